// expect: process_exceeded exit=1
// row: 13
// weight: 2
// a process where none is allowed

require('child_process').spawn(process.execPath, ['-p', '1']);
