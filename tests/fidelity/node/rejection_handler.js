process.on('unhandledRejection', (reason) => console.log('handled', reason));
Promise.reject('why');
