// zygote.js: makes the node process that loads it (node -r, as another file) a
// zygote.
//
// Runs in the Node zygote before its main script, and in each child from the
// fork to the program's first line.  node's own bootstrap reads Module.runMain
// last of all: a getter waits there for jobs, and what a child returns from it
// runs the program with the very frames that `node FILE` has.  The main script
// of the command line is never opened.

'use strict';

const fs = require('fs');
const path = require('path');
const Module = require('module');
const v8 = require('v8');
const vm = require('vm');

const execArgv = ['--no-warnings'];
const execPath = fs.realpathSync(process.argv0);
const runMain = Module.runMain;
const home = process.env.HOME;
const dir = path.dirname(process.argv[1]);

const REHEARSALS = 3;

// This process was started by a descriptor, which node took for its path; where
// it looks for modules follows from that.
process.execPath = execPath;
Module._initPaths();

function loadAddon(file) {
  const module = { exports: {} };

  process.dlopen(module, file);

  return module.exports;
}

const addon = loadAddon(path.join(dir, '..', 'libsbx_node.so'));

// What programs load most.  None of these is seen by a program: built-in
// modules have no place in require.cache.
const builtins = ['assert', 'async_hooks', 'buffer', 'child_process',
  'console', 'constants', 'crypto', 'events', 'fs', 'fs/promises', 'module',
  'net', 'os', 'path', 'perf_hooks', 'querystring', 'readline',
  'readline/promises', 'stream', 'stream/promises', 'string_decoder',
  'timers', 'timers/promises', 'tty', 'url', 'util', 'v8', 'vm', 'zlib'];

// Code that is not used for some time is dropped, here it is to stay; what runs
// is to be compiled, with its inline caches, at once: in a child it will be new.
v8.setFlagsFromString('--no-flush-bytecode');
v8.setFlagsFromString('--no-lazy-feedback-allocation');
v8.setFlagsFromString('--always-sparkplug');

const internals = require(path.join(dir, 'internals.js'));

internals.isolateWorkers(execArgv);
builtins.concat('worker_threads').forEach((id) => require(id));

const warm = require(path.join(dir, 'warm.js'))(addon, internals);

// A property of process, writable or not.
function define(name, value) {
  const how = Object.getOwnPropertyDescriptor(process, name);

  Object.defineProperty(process, name, { ...how, value });
}

// What node would have known from its start.  Runs in a child once its job is
// there; and in the zygote, so that its code is there.
function become(job, [mono, real, seeds]) {
  const file = job.file ?? warm.hello;          // a rehearsal has none

  process.chdir(path.dirname(file));            // node remembers where it was
  process.argv = [execPath, file, ...job.args];
  define('pid', addon.pid());
  process.execArgv = [...execArgv];
  define('_preload_modules', []);
  internals.setOrigin(mono, real);

  if (process.env.HOME !== home) {
    Module._initPaths();
  }

  // node tells V8 of another time zone when this is written to
  if (process.env.TZ !== undefined) {
    process.env.TZ = process.env.TZ;
  }

  if (seeds) {
    v8.setFlagsFromString(`--random-seed=${seeds}`);
    Math.random();
    v8.setFlagsFromString('--random-seed=0');
  }

  return runMain.bind(Module, file);
}

// Stays where it is; all else is overwritten when there is a job.
function rehearse() {
  addon.start();
  become({ file: path.join(process.cwd(), 'main.js'), args: [] },
         [Number(process.hrtime.bigint()), Date.now() * 1e3, 0]);
}

function touch() {
  warm.touch();
  rehearse();
}

for (let i = 0; i < REHEARSALS; i++) {
  rehearse();
}

// Minor collections only: a full one moves everything, and children then copy
// more pages.
v8.setFlagsFromString('--expose-gc');
const gc = vm.runInNewContext('gc');
gc({ type: 'minor' });
gc({ type: 'minor' });
v8.setFlagsFromString('--no-expose-gc');

// These have acted, as has the one of the command line.  V8 refuses the cached
// code of node's own modules while any flag differs from its default.
v8.setFlagsFromString('--flush-bytecode');
v8.setFlagsFromString('--lazy-feedback-allocation');
v8.setFlagsFromString('--no-always-sparkplug');
v8.setFlagsFromString('--semi-space-growth-factor=2');

addon.setup(touch, process, internals.exitFields,
            internals.codeAt, internals.hasCodeAt);
process.reallyExit = addon.reallyExit;

function takeJob() {
  const job = addon.serve();

  return become(job, addon.start());
}

Object.defineProperty(Module, 'runMain', {
  configurable: true,
  enumerable: true,
  get() {
    Object.defineProperty(Module, 'runMain', {
      configurable: true, enumerable: true, writable: true, value: runMain,
    });

    for (const file of Object.keys(require.cache)) {
      delete require.cache[file];
    }

    return takeJob();
  },
});
