// expect: error exit=1
// row: 16
// stderr: Error: no
// weight: 1
// an exception

throw new Error('no');
