const { EventEmitter, once } = require('events');
const emitter = new EventEmitter();
emitter.on('x', (...args) => console.log('x', ...args));
emitter.once('x', () => console.log('once'));
console.log(emitter.emit('x', 1, 2), emitter.emit('x'), emitter.emit('y'));
once(emitter, 'z').then(([value]) => {
  console.log('z', value);
  emitter.emit('error', new Error('nobody listens'));
});
emitter.emit('z', 5);
