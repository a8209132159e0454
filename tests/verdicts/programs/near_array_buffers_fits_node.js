// expect: success
// limits: {"memory": "100m"}
// weight: 1
// 0.9 of its limit

const a = [];
for (let i = 0; i < 90; i++) {
    a.push(new ArrayBuffer(1 << 20));
}
