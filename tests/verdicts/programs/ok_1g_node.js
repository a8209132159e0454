// expect: success
// output: 2\n
// limits: {"memory": "1024m"}
// case: 16
// weight: 1
// more memory must not be what breaks the start

console.log(2)
