import fs, { readFileSync } from 'node:fs';
import { value, bump } from './helper.mjs';
import cjs from './old.cjs';
console.log(typeof fs.readFileSync === typeof readFileSync, value);
bump();
console.log(value, cjs.name, (await import('./helper.mjs')).value);
