process.on('unhandledRejection', (reason) => { throw reason; });
Promise.reject(new Error('thrown again'));
