// expect: error
// an exit code is no evidence

process.exit(137);
