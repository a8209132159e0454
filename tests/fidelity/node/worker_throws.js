const { Worker } = require('worker_threads');
const worker = new Worker('throw new Error("inside")', { eval: true });
worker.on('error', (error) => console.log('error', error.message));
