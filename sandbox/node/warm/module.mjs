import fs, { readFileSync } from 'node:fs';
import { createRequire } from 'module';
import helper, { answer } from './helper.mjs';
import common from './helper.js';

const require = createRequire(import.meta.url);

console.log(answer, helper(), common.answer, import.meta.url.length,
            typeof require, readFileSync === fs.readFileSync);
await null;
await import('node:path');
process.emit('warmed');
