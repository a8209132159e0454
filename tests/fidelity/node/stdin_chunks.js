const fs = require('fs');
const buffer = Buffer.alloc(5);
const parts = [];
let n;
while ((n = fs.readSync(0, buffer, 0, 5, null)) > 0) {
  parts.push(buffer.toString('latin1', 0, n));
}
console.log(parts);
process.stdin.setEncoding('utf8').on('data', (d) => console.log('more', d))
  .on('end', () => console.log('end'));
