const { Worker, isMainThread, parentPort, workerData, threadId } =
  require('worker_threads');
if (isMainThread || workerData > 0) {
  const depth = isMainThread ? 3 : workerData;
  const worker = new Worker(__filename, { workerData: depth - 1 });
  const send = isMainThread ? console.log : (m) => parentPort.postMessage(m);
  worker.on('message', (m) => send(`${threadId} > ${m}`));
} else {
  parentPort.postMessage('the deepest');
}
