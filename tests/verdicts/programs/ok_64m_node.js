// expect: success
// output: 1\n
// limits: {"memory": "64m"}
// case: 18
// weight: 2
// resident, not virtual, memory is limited

console.log(1)
