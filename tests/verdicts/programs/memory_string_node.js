// expect: memory_exceeded hook
// without hook: memory_exceeded | error | signaled
// limits: {"memory": "64m"}
// weight: 1
// strings

const a = [];
for (let i = 0; ; i++) {
    a.push(String(i).repeat(1000).toUpperCase());
}
