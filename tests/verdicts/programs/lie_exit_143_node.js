// expect: error exit=143
// weight: 2
// a code that looks like another end: codes are no evidence

process.exit(143);
