// expect: memory_exceeded hook
// without hook: success | memory_exceeded
// limits: {"memory": "100m"}
// weight: 2
// 1.5 times its limit

Buffer.alloc(150 << 20, 1);
