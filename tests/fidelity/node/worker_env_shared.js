const { Worker, SHARE_ENV } = require('worker_threads');
process.env.BEFORE = '1';
new Worker('process.env.FROM_WORKER = process.env.BEFORE + 1', { eval: true,
  env: SHARE_ENV }).on('exit', () => console.log(process.env.FROM_WORKER));
