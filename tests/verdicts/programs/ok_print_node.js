// expect: success exit=0
// row: 17
// output: 2\n
// case: 15
// weight: 1
// a runtime that reserves more address space than any limit

console.log(2)
