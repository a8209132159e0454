const lines = require('readline').createInterface({ input: process.stdin });
let n = 0;
lines.on('line', (line) => console.log(n++, line));
lines.on('close', () => console.log('closed'));
