// expect: error exit=139
// weight: 2
// a code that looks like another end: codes are no evidence

process.exit(139);
