const { AsyncLocalStorage } = require('async_hooks');
const storage = new AsyncLocalStorage();
storage.run(5, () => setTimeout(() => console.log(storage.getStore()), 1));
console.log(storage.getStore());
