// expect: memory_exceeded hook
// without hook: memory_exceeded | error | signaled
// limits: {"memory": "128m"}
// weight: 1
// a worker thread allocates

const { Worker } = require('worker_threads');
new Worker('Buffer.alloc(1 << 30)', { eval: true });
