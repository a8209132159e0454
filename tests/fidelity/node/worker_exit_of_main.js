const { Worker } = require('worker_threads');
const worker = new Worker('require("worker_threads").parentPort' +
  '.postMessage(1); for (;;);', { eval: true });
worker.on('message', () => process.exit(9));
