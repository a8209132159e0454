const fs = require('fs');
console.log(new Error('top').stack);
console.trace('traced');
function inner() {
  return new Error('nested', { cause: new TypeError('the cause') });
}
console.log([1].map(() => inner())[0]);
class Thing {
  constructor() { this.stack = new Error('in a constructor').stack; }
  get value() { return new Error('in a getter').stack; }
  static make() { return new Thing(); }
}
console.log(Thing.make().stack, Thing.make().value);
console.log(eval('new Error("in eval")').stack);
console.log(new Function('return new Error("in a function")')().stack);
// one after the other
const steps = [
  (next) => setTimeout(function tick() { next(new Error('timer')); }, 1),
  (next) => setImmediate(() => next(new Error('immediate'))),
  (next) => process.nextTick(() => next(new Error('tick'))),
  (next) => Promise.resolve().then(() => next(new Error('then'))),
  async function outer(next) {
    await (async function between() {
      await null;
      next(new Error('awaited'));
    })();
  },
  (next) => fs.readFile('/none', next),
  (next) => fs.promises.readFile('/none').catch(next),
];
(function next(error) {
  if (error) {
    console.log(error.stack);
  }
  steps.shift()?.(next);
})();
process.on('exit', () => console.log(new Error('exit').stack));
