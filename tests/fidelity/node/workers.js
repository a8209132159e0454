const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
if (isMainThread) {
  const worker = new Worker(__filename, { workerData: 20 });
  worker.on('message', (value) => console.log('from worker', value));
  worker.on('exit', (code) => console.log('exit', code));
} else {
  parentPort.postMessage(workerData + 1);
}
