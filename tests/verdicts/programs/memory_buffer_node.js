// expect: memory_exceeded hook
// row: 10
// without hook: memory_exceeded | error | signaled
// limits: {"memory": "128m"}
// weight: 2
// one buffer

Buffer.alloc(1e9);
