// expect: timeout cpu
// limits: {"cpu_time": 500, "timeout": 30000}
// says: CPU time limit of 500ms exceeded
// weight: 1
// a worker thread's time counts

const { Worker } = require('worker_threads');
new Worker('for (;;);', { eval: true });
