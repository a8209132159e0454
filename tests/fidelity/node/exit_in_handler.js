process.on('exit', () => {
  setTimeout(() => console.log('never'), 0);
  process.exit(6);
});
