// expect: memory_exceeded hook
// without hook: memory_exceeded | error | signaled
// limits: {"memory": "64m"}
// weight: 1
// many buffers

const a = [];
for (;;) {
    a.push(Buffer.alloc(1 << 20, 1));
}
