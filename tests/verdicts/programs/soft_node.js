// expect: memory_exceeded hook
// mode: soft
// limits: {"memory": "64m"}
// without hook: memory_exceeded | error | signaled
// weight: 1
// soft mode, node fails of it

new ArrayBuffer(1 << 30);
