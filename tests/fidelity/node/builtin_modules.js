const { builtinModules } = require('module');
for (const name of builtinModules) {
  require(name);
}
console.log(builtinModules.length);
