// expect: output_exceeded stdout
// output

const b = Buffer.alloc(65536, 'x');
for (;;) require('fs').writeSync(1, b);
