// expect: memory_exceeded hook
// without hook: success | memory_exceeded
// limits: {"memory": "100m"}
// weight: 2
// 1.5 times its limit

const a = [];
for (let i = 0; i < 150; i++) {
    a.push(new ArrayBuffer(1 << 20));
}
