// expect: success
// output: 7\n
// weight: 1
// a worker thread with a heap of its own

const { Worker } = require('worker_threads');
new Worker('require("worker_threads").parentPort.postMessage(7)',
           { eval: true }).on('message', (n) => console.log(n));
