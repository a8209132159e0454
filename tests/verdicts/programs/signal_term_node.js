// expect: signaled signal=SIGTERM
// weight: 2
// from itself

process.kill(process.pid, 'SIGTERM');
setTimeout(() => {}, 9999);
