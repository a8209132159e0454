process.on('unhandledRejection', (reason, promise) => {
  console.log('unhandled', reason.message, promise);
});
process.on('rejectionHandled', (promise) => console.log('handled', promise));
process.on('uncaughtException', (error, origin) => {
  console.log(origin, error.message);
});
process.on('uncaughtExceptionMonitor', (error) => {
  console.log('monitor', error.message);
});
const late = Promise.reject(new Error('late'));
setTimeout(() => late.catch(() => {}), 5);
setTimeout(() => { throw new Error('thrown'); }, 10);
