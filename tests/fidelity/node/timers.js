const { setTimeout: sleep } = require('timers/promises');
(async () => {
  let n = 0;
  const interval = setInterval(() => console.log('interval', ++n), 20);
  await sleep(70);
  clearInterval(interval);
  console.log(n >= 2, await sleep(1, 'value'));
})();
