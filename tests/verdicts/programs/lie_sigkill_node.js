// expect: signaled signal=SIGKILL
// weight: 2
// kills itself as the kernel would

process.kill(process.pid, 'SIGKILL');
setTimeout(() => {}, 9999);
