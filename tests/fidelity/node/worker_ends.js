const { Worker } = require('worker_threads');
const codes = {
  exit: 'process.exit(7)',
  code: 'process.exitCode = 8',
  throws: 'throw new TypeError("from a worker")',
  rejects: 'Promise.reject(new Error("nobody catches"))',
  syntax: 'let let = 1',
  terminated: 'setInterval(() => {}, 1000); ' +
    'require("worker_threads").parentPort.postMessage("is up")',
};
(async () => {
  for (const [name, code] of Object.entries(codes)) {
    const worker = new Worker(code, { eval: true });
    worker.on('message', (m) => { console.log(m); worker.terminate(); });
    worker.on('error', (e) => console.log(name, e.name, e.code, e.message));
    console.log(name, await new Promise((done) => worker.on('exit', done)));
  }
})();
