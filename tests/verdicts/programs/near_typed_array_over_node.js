// expect: memory_exceeded hook
// without hook: success | memory_exceeded
// limits: {"memory": "100m"}
// weight: 2
// 1.5 times its limit

new Float64Array(150 << 17).fill(1);
