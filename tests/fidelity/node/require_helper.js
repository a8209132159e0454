const helper = require('./lib/helper');
console.log(helper.name, require('./lib/helper') === helper,
  module.children.length, require.main === module, module.id);
console.log(__filename, __dirname, require.resolve('./lib/helper'));
