// expect: error exit=134
// a code that looks like another end: codes are no evidence

process.exit(134);
