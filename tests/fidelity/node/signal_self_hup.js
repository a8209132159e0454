process.on('exit', () => console.log('is not said'));
require('fs').writeSync(1, 'before\n');
process.kill(process.pid, 'SIGHUP');
setTimeout(() => console.log('after'), 50);
