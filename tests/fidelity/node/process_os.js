const os = require('os');
console.log(os.EOL === '\n', os.endianness(), os.homedir(), os.tmpdir(),
  os.availableParallelism() > 0, os.type());
