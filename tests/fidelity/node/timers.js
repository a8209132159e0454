const { setTimeout: sleep } = require('timers/promises');
(async () => {
  let n = 0;
  const interval = setInterval(() => { n++; }, 10);
  await sleep(100);
  clearInterval(interval);
  console.log(n >= 2, await sleep(1, 'value'));
})();
