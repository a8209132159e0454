// expect: error exit=3
// weight: 1
// an exit code

process.exit(3)
