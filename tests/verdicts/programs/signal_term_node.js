// expect: signaled signal=SIGTERM
// weight: 4
// from itself

process.kill(process.pid, 'SIGTERM');
setTimeout(() => {}, 9999);
