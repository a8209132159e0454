// expect: memory_exceeded hook
// without hook: memory_exceeded | error | signaled
// limits: {"memory": "64m"}
// weight: 1
// an array that grows

const a = [];
for (;;) {
    a.push(a.length + 0.5);
}
