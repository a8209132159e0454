'use strict';

const fs = require('fs');
let data = '';

process.stdin.on('data', (chunk) => { data += chunk; });
process.stdin.on('end', () => console.log(data.length));

(async () => {
  await fs.promises.readFile(__filename);
  await fs.promises.stat('/none').catch(() => {});
  fs.readFile(__filename, 'utf8', () => {});
})();
