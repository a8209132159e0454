// expect: success
// output: 2\n
// limits: {"processes": 1}
// case: 17
// weight: 2
// threads of the runtime are no processes

console.log(2)
