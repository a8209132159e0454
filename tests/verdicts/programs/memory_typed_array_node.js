// expect: memory_exceeded hook
// without hook: memory_exceeded | error | signaled
// limits: {"memory": "64m"}
// weight: 2
// a typed array

new Float64Array(160 << 20).fill(1);
