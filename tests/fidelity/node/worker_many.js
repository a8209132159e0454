const { Worker } = require('worker_threads');
const counter = new Int32Array(new SharedArrayBuffer(4));
const code = 'const { workerData } = require("worker_threads"); ' +
  'for (let i = 0; i < 1000; i++) Atomics.add(workerData, 0, 1)';
const ended = Array.from({ length: 4 }, () => new Promise((done) =>
  new Worker(code, { eval: true, workerData: counter }).on('exit', done)));
Promise.all(ended).then((codes) => console.log(counter[0], codes));
