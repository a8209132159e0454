// expect: error exit=1
// row: 16
// stderr: Error: no
// an exception

throw new Error('no');
