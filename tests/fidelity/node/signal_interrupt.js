process.on('SIGINT', () => {
  console.log('interrupted');
  process.exit(130);
});
process.kill(process.pid, 'SIGINT');
setTimeout(() => {}, 5000);
