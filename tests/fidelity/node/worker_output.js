const { Worker } = require('worker_threads');
const worker = new Worker('console.log("out"); console.error("err"); ' +
  'process.stdout.write("no end of line")', { eval: true });
worker.on('exit', () => {
  console.log('|');
  const kept = new Worker('console.log("kept")', { eval: true, stdout: true });
  kept.stdout.on('data', (text) => console.error(`it said ${text}`));
});
