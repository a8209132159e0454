// expect: memory_exceeded hook
// without hook: success | memory_exceeded
// limits: {"memory": "128m"}
// case: A87
// weight: 2
// 160 MB

const a = new Array(20000000).fill(0);
console.log(a.length);
