// expect: memory_exceeded hook
// without hook: memory_exceeded | error | signaled
// limits: {"memory": "256m"}
// case: B23
// counts: 225 257
// weight: 1
// blocks of 1 MiB below 256 MiB: ends at about the 257th

const blocks = [];
for (let i = 1; ; i++) {
    blocks.push(new ArrayBuffer(1 << 20));
    require('fs').writeSync(1, i + '\n');
}
