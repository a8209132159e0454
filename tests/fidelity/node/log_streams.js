console.log('to stdout');
console.error('to stderr');
console.warn('warning');
console.info('info');
console.debug('debug');
