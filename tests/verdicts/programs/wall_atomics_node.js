// expect: timeout wall
// limits: {"timeout": 300, "cpu_time": 30000}
// says: time limit of 300ms exceeded
// weight: 3
// waits where nobody wakes

Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
