const fs = require('fs');
fs.mkdirSync('d/e', { recursive: true });
fs.writeFileSync('d/e/x.txt', 'text');
fs.appendFileSync('d/e/x.txt', ' more');
console.log(fs.readFileSync('d/e/x.txt', 'utf8'), fs.readdirSync('.'),
  fs.statSync('d/e/x.txt').mode.toString(8), fs.existsSync('none'));
fs.rmSync('d', { recursive: true });
console.log(fs.readdirSync('.'));
