const fs = require('fs');
console.log(fs.readFileSync('/dev/stdin', 'utf8').trim().split('\n'));
fs.writeFileSync('/dev/stdout', 'by name\n');
