const text = require('fs').readFileSync(0, 'utf8');
const [n, ...rest] = text.trim().split('\n');
console.log(Number(n), rest.map((line) => line.split(' ').map(Number)));
