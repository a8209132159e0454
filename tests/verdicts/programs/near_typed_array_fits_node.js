// expect: success
// limits: {"memory": "100m"}
// weight: 1
// 0.9 of its limit

new Float64Array(90 << 17).fill(1);
