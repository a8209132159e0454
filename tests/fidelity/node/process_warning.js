process.emitWarning('not shown');
process.on('warning', (warning) => console.log('event', warning.message));
new Buffer(5);
