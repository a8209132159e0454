// expect: timeout wall
// limits: {"timeout": 300, "cpu_time": 30000}
// says: time limit of 300ms exceeded
// weight: 3
// a timer far ahead

setTimeout(() => {}, 60000);
