require('v8').setFlagsFromString('--expose-gc');
const gc = require('vm').runInNewContext('gc');
let n = 0;
const registry = new FinalizationRegistry((held) => { n += held; });
const weak = [];
(() => {
  for (let i = 0; i < 50; i++) {
    const object = { i };
    registry.register(object, 1);
    weak.push(new WeakRef(object));
  }
})();
setTimeout(() => {
  gc();
  setTimeout(() => console.log(n, weak.filter((w) => w.deref()).length), 20);
}, 5);
