// expect: output_exceeded stdout
// limits: {"output": 65536}
// weight: 2
// prints for ever

for (;;) {
    require('fs').writeSync(1, 'x'.repeat(1000));
}
