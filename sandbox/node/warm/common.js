'use strict';

const fs = require('fs');
const path = require('path');
const readline = require('readline');
const util = require('util');
const { EventEmitter } = require('events');
const { Readable } = require('stream');
const { performance } = require('perf_hooks');

class Shape {
  #area;

  constructor(area) { this.#area = area; }
  get area() { return this.#area; }
  static unit() { return new Shape(1); }
  toString() { return `Shape of ${this.#area}`; }
}

class Row extends Shape {
  *[Symbol.iterator]() { yield 1; yield this.area; }
}

// printing, of all kinds of values
console.log('text', 1, -0, NaN, true, null, undefined, 10n ** 20n);
console.log('%s is %d, %j %o %%', 'one', 1, { a: 1 }, [2]);
console.log([1, 'x', [2, [3, [4]]]], { a: { b: { c: { d: 1 } } } });
console.log(new Map([[1, { a: 2 }]]), new Set('ab'), Symbol('s'), /re/g,
            new Date(0), () => 1, new Shape(2), [...new Row(3)],
            new Uint8Array(3), Buffer.from('abc'), new Error('shown'));
console.error('to stderr', Shape.unit());
console.table([{ a: 1, b: 2 }]);
process.stdout.write('plain\n');
process.stderr.write('plain\n');
util.format('%o', util.inspect({ deep: { er: {} } }, { depth: null }));

// data
const words = 'the quick brown fox'.split(' ');
const counts = new Map();
const text = JSON.stringify({ words, n: 1.5, s: 'x'.repeat(100) });

for (let i = 0; i < 200; i++) {
  const key = `k${i % 10}`;

  counts.set(key, (counts.get(key) ?? 0) + i);
}

JSON.parse(text);
words.map((w) => w.toUpperCase()).filter(Boolean).sort()
  .reduce((a, b) => a + b, '');
[3, 1, 2].sort((a, b) => a - b);
text.replace(/x+/g, '-').match(/(\w+):/);
[...text.matchAll(/"(\w)/g)].length;
'abc'.padStart(10).trim().charCodeAt(0);
Object.entries({ a: 1 }).forEach(([key, value]) => [key, value]);
const { a, ...rest } = { a: 1, b: 2, c: 3 };
Object.assign({}, rest, { a });
structuredClone({ m: new Map() });
parseInt('12', 10) + Number('1.5') + (1.25).toFixed(1).length;
new TextDecoder().decode(new TextEncoder().encode('é'));
Buffer.alloc(8).toString('hex');
new URL('http://host/path?q=1').searchParams.get('q');
new Intl.NumberFormat('en').format(1e6);
new Date().toLocaleDateString();
(1234.5).toLocaleString();

// time, events, promises
const events = new EventEmitter();

events.on('x', () => {});
events.once('x', () => {});
events.emit('x');
setTimeout(() => console.log('timer'), 0);
setImmediate(() => {});
const interval = setInterval(() => clearInterval(interval), 1);
process.nextTick(() => {});
queueMicrotask(() => {});
performance.now();
Promise.all([1, Promise.resolve(2)]).then(() => {}).finally(() => {});

async function* numbers() { yield 1; yield 2; }

(async () => {
  for await (const n of numbers()) {
    await new Promise((done) => setTimeout(done, n / 10));
  }

  await Promise.reject(new Error('caught')).catch((e) => e.stack);
})();

// files, streams, standard input
try {
  fs.readFileSync('/none');
} catch (error) {
  String(error);
}

fs.existsSync(path.join(path.dirname(__filename), 'none'));
fs.readFileSync(__filename, 'utf8');
new Readable({ read() { this.push(null); } }).resume();

const lines = readline.createInterface({ input: process.stdin });

lines.on('line', (line) => line.split(' '));
lines.on('close', () => {});
require('./helper');

try {
  null.x;
} catch (error) {
  error.stack;
}
