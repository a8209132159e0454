const show = (object) => Reflect.ownKeys(object).map((key) => {
  const own = Object.getOwnPropertyDescriptor(object, key);
  return [String(key), own.writable, own.enumerable, own.configurable,
    typeof own.get, typeof own.value].join(':');
}).sort();
console.log(show(process).join('\n'));
console.log(show(Object.getPrototypeOf(process)).join('\n'));
console.log(show(globalThis).join('\n'));
console.log(show(require('module')).join('\n'));
console.log(require('module').builtinModules.join(' '));
for (const name of ['internal/util', 'internal/test/binding', 'none']) {
  try {
    console.log(name, typeof require(name));
  } catch (error) {
    console.log(error.code, error.message);
  }
}
