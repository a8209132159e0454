process.on('uncaughtException', (error, origin) => {
  console.log('handled', error.message, origin);
});
setTimeout(() => console.log('goes on'), 5);
throw new Error('x');
