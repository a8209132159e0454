// expect: success
// output: ok\n
// limits: {"memory": "128m"}
// case: A89
// weight: 2
// the wrapper alone must not break it

console.log('ok');
