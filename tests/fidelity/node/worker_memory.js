const { Worker } = require('worker_threads');
const code = 'const all = []; for (;;) all.push(new Array(200000).fill(1.5))';
const worker = new Worker(code, { eval: true,
  resourceLimits: { maxOldGenerationSizeMb: 16 } });
worker.on('error', (error) => console.log(error.code, error.message));
worker.on('exit', (exitCode) => console.log(exitCode));
