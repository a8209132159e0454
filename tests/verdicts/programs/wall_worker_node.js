// expect: timeout wall
// limits: {"timeout": 300, "cpu_time": 30000}
// says: time limit of 300ms exceeded
// weight: 4
// a worker thread that never ends

const { Worker } = require('worker_threads');
new Worker('setInterval(() => {}, 1000)', { eval: true });
