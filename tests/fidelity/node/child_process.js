const { execFileSync, spawn } = require('child_process');
console.log(String(execFileSync(process.execPath, ['-e', 'console.log(1)'])));
spawn(process.execPath, ['-e', 'process.exit(4)'])
  .on('exit', (code) => console.log('exit', code));
