// expect: error exit=3
// an exit code

process.exit(3)
