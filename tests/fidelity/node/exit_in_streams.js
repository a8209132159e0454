const { Readable } = require('stream');
process.on('exit', (code) => console.log('exit', code));
let n = 0;
new Readable({ read() {
  this.push(`${n}\n`);
  if (++n === 1000) {
    process.exit(11);
  }
} }).pipe(process.stdout);
