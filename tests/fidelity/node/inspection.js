const util = require('util');
console.log(util.inspect({ a: { b: { c: {} } }, s: 'x' }, { depth: 0,
  colors: true, compact: false }));
console.log(util.format('%s %O', 'a', { b: 1 }), util.types.isDate(new Date()));
console.log(util.inspect(new (class { [util.inspect.custom]() { return 'mine'; } })()));
