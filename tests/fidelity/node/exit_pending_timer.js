setTimeout(() => console.log('never'), 10000).unref();
console.log('end');
