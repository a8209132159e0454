// expect: success
// output: 3\n
// name: main.mjs
// weight: 2
// an ES module

import { readFileSync } from 'fs';
console.log(typeof readFileSync === 'function' ? 3 : 0);
