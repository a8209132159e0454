// expect: error exit=137
// a code that looks like another end: codes are no evidence

process.exit(137);
