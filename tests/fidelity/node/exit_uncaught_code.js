process.on('exit', (code) => {
  console.log('exit', code);
  process.exitCode = 14;
});
throw new Error('but another code');
