// expect: memory_exceeded hook
// without hook: memory_exceeded | error | signaled
// limits: {"memory": "128m"}
// case: B32
// weight: 2
// a big ArrayBuffer

const b = new ArrayBuffer(1200 << 20);
console.log(b.byteLength);
