import fs, { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
console.log('start', fs.readFileSync === readFileSync);
setTimeout(() => console.log('timeout'), 0);
queueMicrotask(() => console.log('microtask'));
process.nextTick(() => console.log('tick'));
await null;
console.log('after the first');
for await (const n of [1, Promise.resolve(2)]) {
  console.log(n);
}
const require = createRequire(import.meta.url);
console.log(require('path').basename(import.meta.url), typeof module, this);
console.log(Object.keys(import.meta), await import.meta.resolve?.('fs'));
console.log(process.argv[1], process.mainModule, require.main);
