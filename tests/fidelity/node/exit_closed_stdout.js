require('fs').closeSync(1);
console.log('into nothing');
console.error('it goes on');
