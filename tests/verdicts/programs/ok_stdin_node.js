// expect: success
// output: 6\n
// stdin: 1 2 3\n
// case: 20
// weight: 2
// reads descriptor 0 with the filter on

const text = require('fs').readFileSync(0, 'utf8');
console.log(text.split(' ').reduce((a, b) => a + Number(b), 0));
