// warm.js: runs programs of every kind in the zygote and takes back what a
// program could notice of them.
//
// Runs in the Node zygote.  What the programs used is compiled and in memory in
// every child.  touch() is the shortest of them once more, in a standby child:
// the pages that it writes to are the child's own before there is a job.

'use strict';

const fs = require('fs');
const path = require('path');
const Module = require('module');

const OWN = 0, PIPES = 1, NULL = 2;             // addon.setStdio
const ONCE = 1, NOWAIT = 2;                     // uv_run's modes
const DRAIN_MS = 10;
const DRAIN_MAX_MS = 10000;                     // on a machine with other work

// hello first and with /dev/null, which is another path than that of pipes;
// the large one often enough for its inline caches to settle
const programs = [
  ['hello.js', NULL], ['common.js', PIPES], ['input.js', PIPES],
  ['module.mjs', PIPES], ['common.js', PIPES], ['common.js', PIPES],
];

// What a name of globalThis is, if it is a getter; of others nothing is asked:
// from node 22 on some are made, and half a megabyte of code is loaded, as soon as
// somebody looks at their descriptor.
const lookupGetter = Object.prototype.__lookupGetter__;

function describeGetter(name) {
  return lookupGetter.call(globalThis, name) === undefined
    ? null : Object.getOwnPropertyDescriptor(globalThis, name);
}

module.exports = (addon, internals) => {
  const dir = path.join(__dirname, 'warm');
  const hello = path.join(dir, 'hello.js');
  const source = fs.readFileSync(hello, 'utf8');
  const runMain = Module.runMain;
  const globals = new Map(Reflect.ownKeys(globalThis).map(
    (name) => [name, describeGetter(name)]));
  const modules = new Set(Object.keys(require.cache));
  const listeners = new Map(process.eventNames().map(
    (name) => [name, process.rawListeners(name)]));

  // The loop runs from C: the bootstrap below us has not come to it yet.  What a
  // program had not come to here would go on in the children, where its files
  // are not.
  function drain(ms, isDone = () => true) {
    const start = Date.now();
    const timer = setInterval(() => {}, 2);

    while (Date.now() < start + ms || !isDone()) {
      if (Date.now() > start + DRAIN_MAX_MS) {
        throw new Error('the warm-up does not end');
      }

      addon.spin(ONCE);
      process._tickCallback();
    }

    clearInterval(timer);
  }

  // How many things somebody waits for, standard input among them.  zlib's and
  // crypto's work on the thread pool is not: no program of warm/ may begin any.
  function countPending() {
    const outputs = process._getActiveHandles().filter(
      (handle) => handle === process.stdout || handle === process.stderr);

    return process.getActiveResourcesInfo().length - outputs.length;
  }

  function forgetStdio() {
    internals.resetStdio();
    console._stdout = undefined;
    console._stderr = undefined;
  }

  function closeStdio() {
    for (const stream of [process.stdin, process.stdout, process.stderr]) {
      stream._handle?.close?.();
    }
  }

  function run(name, mode) {
    const idle = process.getActiveResourcesInfo().length;
    const ends = addon.setStdio(mode);
    let ended = !name.endsWith('.mjs');

    // while a module is loaded there may be nothing that the loop knows of
    process.once('warmed', () => { ended = true; });

    if (mode === PIPES) {
      fs.writeSync(ends[0], 'one line\nanother line\n');
      fs.closeSync(ends[0]);
    }

    forgetStdio();
    process.argv[1] = path.join(dir, name);
    runMain.call(Module, process.argv[1]);
    process._tickCallback();
    // one more: drain's own timer
    drain(DRAIN_MS, () => ended && countPending() <= idle + 1);
    closeStdio();
    drain(5);
    forgetStdio();

    if (mode === PIPES) {
      fs.closeSync(ends[1]);
    }

    addon.setStdio(OWN);

    for (const file of Object.keys(require.cache)) {
      if (!modules.has(file)) {
        delete require.cache[file];
      }
    }
  }

  function takeBack() {
    for (const name of process.eventNames()) {
      const kept = listeners.get(name) ?? [];

      for (const listener of process.rawListeners(name)) {
        if (!kept.includes(listener)) {
          process.removeListener(name, listener);
        }
      }
    }

    // those that node makes when they are first used, too
    for (const name of Reflect.ownKeys(globalThis)) {
      const then = globals.get(name);

      if (then === undefined) {
        Reflect.deleteProperty(globalThis, name);

      } else if (then !== null
                 && then.get !== lookupGetter.call(globalThis, name)) {
        Object.defineProperty(globalThis, name, then);
      }
    }

    delete process.mainModule;
    process.exitCode = undefined;
  }

  for (const [name, mode] of programs) {
    run(name, mode);
  }

  takeBack();
  internals.hide();

  return {
    touch() {
      const ends = addon.setStdio(PIPES);
      const module = new Module(hello, null);

      fs.closeSync(ends[0]);
      module.filename = hello;
      module.paths = [];
      module._compile(source, hello);
      fs.readFileSync('/dev/null');
      closeStdio();
      addon.spin(NOWAIT);
      process._tickCallback();
      forgetStdio();
      fs.closeSync(ends[1]);
      addon.setStdio(OWN);
    },
  };
};
