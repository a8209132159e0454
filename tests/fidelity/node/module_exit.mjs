process.on('exit', (code) => console.log('exit', code));
await null;
process.exit(5);
