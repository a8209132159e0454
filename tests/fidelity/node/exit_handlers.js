process.on('exit', (code) => {
  console.log('exit', code, process.exitCode);
  process.exitCode = 4;
});
process.on('beforeExit', (code) => console.log('beforeExit', code));
console.log('main');
