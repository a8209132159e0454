process.on('SIGUSR2', (name, number) => {
  console.log('got', name, number);
  clearInterval(timer);
});
const timer = setInterval(() => {}, 1000);
process.kill(process.pid, 'SIGUSR2');
