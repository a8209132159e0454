import { Worker } from 'node:worker_threads';
const worker = new Worker(new URL('worker.mjs', import.meta.url),
                          { workerData: 21 });
worker.on('message', (value) => console.log(value));
