// expect: memory_exceeded hook
// without hook: memory_exceeded | error | signaled
// limits: {"memory": "64m"}
// weight: 1
// a map

const m = new Map();
for (let i = 0; ; i++) {
    m.set(i, i);
}
