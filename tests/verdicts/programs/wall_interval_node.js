// expect: timeout wall
// limits: {"timeout": 300, "cpu_time": 30000}
// says: time limit of 300ms exceeded
// weight: 4
// a timer that comes again

setInterval(() => {}, 1000);
