require('fs').writeSync(1, 'x\n');
process.kill(process.pid, 'SIGTERM');
setTimeout(() => {}, 5000);
