// expect: memory_exceeded hook
// without hook: memory_exceeded | error | signaled
// limits: {"memory": "64m"}
// weight: 2
// in a callback

setTimeout(() => { Buffer.alloc(1 << 30); }, 5);
