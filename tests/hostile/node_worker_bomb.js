// expect: success|error|memory_exceeded|process_exceeded|signaled|timeout
// limits: {"timeout": 3000}
// threads are bounded

const { Worker } = require('worker_threads');
for (let i = 0; i < 200; i++) {
    new Worker('setTimeout(() => {}, 3000)', { eval: true }).on('error', () => process.exit(1));
}
