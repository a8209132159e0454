require('fs').writeSync(1, 'x\n');
process.abort();
