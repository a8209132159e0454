// expect: error exit=1
// stderr: SyntaxError
// weight: 1
// no program

console.log(
