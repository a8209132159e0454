const { Worker, receiveMessageOnPort, MessageChannel } =
  require('worker_threads');
const shared = new Int32Array(new SharedArrayBuffer(16));
const { port1, port2 } = new MessageChannel();
const worker = new Worker(`
  const { workerData: { shared, port } } = require('worker_threads');
  port.postMessage({ from: 'worker', big: 10n, when: new Date(0) });
  Atomics.store(shared, 1, 42);
  Atomics.store(shared, 0, 1);
  Atomics.notify(shared, 0);
`, { eval: true, workerData: { shared, port: port2 }, transferList: [port2] });
// the main thread stands still meanwhile
console.log(Atomics.wait(shared, 0, 0, 20000) !== 'timed-out', shared[1]);
console.log(receiveMessageOnPort(port1).message);
worker.on('exit', (code) => { console.log(code); port1.close(); });
