process.exitCode = 9;
console.log('goes on');
