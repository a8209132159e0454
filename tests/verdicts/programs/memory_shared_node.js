// expect: memory_exceeded hook
// without hook: memory_exceeded | error | signaled
// limits: {"memory": "128m"}
// weight: 2
// a SharedArrayBuffer

const b = new SharedArrayBuffer(1 << 30);
new Uint8Array(b).fill(1);
