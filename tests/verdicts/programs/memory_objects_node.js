// expect: memory_exceeded hook
// without hook: memory_exceeded | error | signaled
// limits: {"memory": "64m"}
// weight: 1
// objects in V8's heap

const a = [];
for (;;) {
    a.push({ i: a.length });
}
