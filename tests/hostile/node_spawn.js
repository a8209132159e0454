// expect: success|process_exceeded|error
// output: refused
// a child process

const r = require('child_process').spawnSync('/usr/bin/node', ['-v']);
console.log(r.error ? 'refused' : 'breach');
