process.kill(process.pid, 'SIGKILL');
setTimeout(() => {}, 5000);
