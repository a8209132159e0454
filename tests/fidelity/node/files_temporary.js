const fs = require('fs');
const path = require('path');
const directory = fs.mkdtempSync(path.join(require('os').tmpdir(), 'x-'));
console.log(directory.startsWith('/tmp/x-'), fs.readdirSync(directory));
