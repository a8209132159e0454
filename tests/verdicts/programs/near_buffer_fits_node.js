// expect: success
// limits: {"memory": "100m"}
// weight: 1
// 0.9 of its limit

Buffer.alloc(90 << 20, 1);
