// expect: error exit=139
// a code that looks like another end: codes are no evidence

process.exit(139);
