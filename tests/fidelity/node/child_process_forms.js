const { spawn, spawnSync, exec } = require('child_process');
const sync = spawnSync(process.execPath, ['-v']);
console.log(sync.error?.code, sync.status, sync.signal);
for (const start of [() => spawn(process.execPath, ['-v']),
  () => exec('true', (error) => console.log('exec', error?.code))]) {
  try {
    start().on('error', (error) =>
      console.log(error.code, error.errno, error.syscall, error.path));
  } catch (error) {
    console.log('thrown', error.code);
  }
}
