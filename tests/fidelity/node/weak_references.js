const registry = new FinalizationRegistry(() => console.log('collected'));
let object = { big: true };
const weak = new WeakRef(object);
registry.register(object, 1);
console.log(weak.deref() === object);
