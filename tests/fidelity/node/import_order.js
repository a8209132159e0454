console.log('main');
setImmediate(() => console.log('immediate'));
process.nextTick(() => console.log('tick'));
import('os').then(() => console.log('import of a built-in module'));
Promise.resolve().then(() => console.log('promise'))
  .then(() => console.log('second')).then(() => console.log('third'));
queueMicrotask(() => console.log('microtask'));
