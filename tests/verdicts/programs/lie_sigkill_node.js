// expect: signaled signal=SIGKILL
// kills itself as the kernel would

process.kill(process.pid, 'SIGKILL');
setTimeout(() => {}, 9999);
