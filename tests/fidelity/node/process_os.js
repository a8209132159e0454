const os = require('os');
console.log(os.EOL === '\n', os.endianness(), os.homedir(), os.tmpdir(),
  os.cpus().length === os.availableParallelism(), os.type());
