// parser.js: compiles each file of cases/ in the ways that node compiles
// programs, and prints a line for each way: a digest of the error's stack,
// which shows the line and the place in it, or "accepted".
//
// Runs as a program of the sandbox.

'use strict';

const crypto = require('crypto');
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const digest = (text) =>
  crypto.createHash('sha256').update(text).digest('hex').slice(0, 16);

function tell(file, how, error) {
  const what = error === undefined ? 'accepted' :
    `${error.name} ${digest(String(error.stack))} ${error.message}`;

  console.log(`${file} ${how} ${what.split('\n')[0]}`);
}

function attempt(file, how, compile) {
  try {
    compile();
    tell(file, how);
  } catch (error) {
    tell(file, how, error);
  }
}

(async () => {
  for (const file of fs.readdirSync('cases').sort()) {
    const name = path.resolve('cases', file);

    if (file.endsWith('.mjs')) {
      await import(name).then(() => tell(file, 'module'),
                              (error) => tell(file, 'module', error));
      continue;
    }

    const source = fs.readFileSync(name, 'utf8');

    attempt(file, 'script', () => new vm.Script(source, { filename: name }));
    attempt(file, 'function',
            () => vm.compileFunction(source, ['exports', 'require'],
                                     { filename: name }));
  }
})();
