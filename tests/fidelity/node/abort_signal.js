const { setTimeout: sleep } = require('timers/promises');
sleep(1000, null, { signal: AbortSignal.timeout(10) }).catch((error) => {
  console.log(error.name, error.code, error.cause.name);
});
