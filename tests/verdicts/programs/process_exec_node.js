// expect: process_exceeded exit=1
// weight: 1
// a shell where none is allowed

require('child_process').execSync('ls');
