const log = [];
const proxy = new Proxy({}, {
  get(target, name) { log.push(`get ${String(name)}`); return 1; },
  has(target, name) { log.push(`has ${name}`); return true; },
});
proxy.x;
console.log('y' in proxy, log, Reflect.ownKeys({ b: 1, a: 2, 1: 3 }));
