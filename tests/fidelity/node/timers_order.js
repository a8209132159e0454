const said = [];
const say = (what) => () => said.push(what);
setTimeout(say('30'), 30);
setTimeout(say('1'), 1);
setTimeout(say('0, which is 1'), 0);
setTimeout(say('10'), 10);
clearTimeout(setTimeout(say('never'), 5));
setTimeout((...args) => said.push(args.join()), 20, '20 with', 'arguments');
setTimeout(() => {
  clearInterval(interval);
  console.log(said.filter((what) => what !== 'interval'));
  setImmediate(() => {
    process.nextTick(() => console.log('tick of an immediate'));
    setImmediate(() => console.log('immediate of an immediate'));
  });
}, 60);
const interval = setInterval(say('interval'), 3);
console.log(typeof setTimeout(say('50'), 50)[Symbol.toPrimitive]());
console.log(setTimeout(say('late'), 1e9).unref().hasRef(),
            setTimeout(() => {}, 2 ** 31).unref()._idleTimeout);
