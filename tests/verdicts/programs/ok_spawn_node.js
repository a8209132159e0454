// expect: success
// output: 42\n
// limits: {"processes": 8}
// weight: 1
// a second node where processes are allowed

const { spawnSync } = require('child_process');
process.stdout.write(spawnSync(process.execPath, ['-p', '6*7']).stdout);
