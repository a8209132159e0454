process.on('exit', () => console.log('is not said'));
require('fs').writeSync(1, 'written\n');
process.reallyExit(13);
