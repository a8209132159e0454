const vm = require('vm');
console.log(vm.runInNewContext('x + 1', { x: 41 }));
vm.runInThisContext('throw new Error("from vm")', 'script.js');
