const { Worker } = require('worker_threads');
const worker = new Worker('process.stdin.on("data", ' +
  '(d) => console.log(`worker: ${d}`))', { eval: true, stdin: true });
process.stdin.pipe(worker.stdin);
