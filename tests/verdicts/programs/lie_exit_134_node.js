// expect: error exit=134
// weight: 2
// a code that looks like another end: codes are no evidence

process.exit(134);
