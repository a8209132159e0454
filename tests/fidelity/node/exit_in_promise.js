process.on('beforeExit', () => console.log('is not said'));
Promise.resolve().then(() => process.exit(15));
setImmediate(() => console.log('nor this'));
