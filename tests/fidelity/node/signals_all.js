const names = ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGUSR2', 'SIGWINCH',
  'SIGCONT', 'SIGALRM', 'SIGPIPE', 'SIGXCPU'];
let n = 0;
for (const name of names) {
  process.on(name, (heard, number) => {
    console.log(heard, number);
    if (++n < names.length) {
      process.kill(process.pid, names[n]);
    } else {
      clearInterval(alive);
    }
  });
}
const alive = setInterval(() => {}, 1000);
process.kill(process.pid, names[0]);
for (const bad of ['SIGKILL', 'SIGNONE']) {
  try {
    process.on(bad, () => {});
  } catch (error) {
    console.log(error.code, error.message);
  }
}
try {
  process.kill(process.pid, 'SIGNONE');
} catch (error) {
  console.log(error.code, process.kill(process.pid, 0));
}
