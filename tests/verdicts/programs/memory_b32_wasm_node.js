// expect: memory_exceeded hook
// without hook: memory_exceeded | error | signaled | success
// limits: {"memory": "128m"}
// case: B32
// weight: 2
// WebAssembly memory that grows

const m = new WebAssembly.Memory({ initial: 1 });
m.grow(300 << 4);
