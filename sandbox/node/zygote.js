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

const REHEARSALS = 12;

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
// is to have its inline caches at once: in a child it will be new.
v8.setFlagsFromString('--no-flush-bytecode');
v8.setFlagsFromString('--no-lazy-feedback-allocation');

const internals = require(path.join(dir, 'internals.js'));

internals.isolateWorkers(execArgv);
builtins.concat('worker_threads').forEach((id) => require(id));

const warm = require(path.join(dir, 'warm.js'))(addon, internals);

// What the addon says of a run's start, its last field 0 or a seed.
const start = new Float64Array(4), MONO = 0, REAL = 1, PID = 2, SEED = 3;

const pid = Object.getOwnPropertyDescriptor(process, 'pid');
const preloaded = Object.getOwnPropertyDescriptor(process, '_preload_modules');

process.execArgv = [...execArgv];
Object.defineProperty(process, '_preload_modules', { ...preloaded, value: [] });

// What node would have known from its start.  Runs in a child once its job is
// there, the program's path and each argument behind a NUL; and in the zygote,
// so that its code is there.
function become(job) {
  const end = job.indexOf('\0');
  const file = end === -1 ? job : job.slice(0, end);

  process.chdir(path.dirname(file));            // node remembers where it was
  process.argv = end === -1 ? [execPath, file]
    : [execPath, file, ...job.slice(end + 1).split('\0')];
  pid.value = start[PID];
  Object.defineProperty(process, 'pid', pid);
  internals.setOrigin(start[MONO], start[REAL]);

  if (process.env.HOME !== home) {
    Module._initPaths();
  }

  // node tells V8 of another time zone when this is written to
  if (process.env.TZ !== undefined) {
    process.env.TZ = process.env.TZ;
  }

  if (start[SEED] !== 0) {
    v8.setFlagsFromString(`--random-seed=${start[SEED]}`);
    Math.random();
    v8.setFlagsFromString('--random-seed=0');
  }

  return runMain.bind(Module, file);
}

// Stays where it is; all else is overwritten when there is a job.
function rehearse() {
  start[MONO] = Number(process.hrtime.bigint());
  start[REAL] = Date.now() * 1e3;
  become(path.join(process.cwd(), 'main.js'));
}

function touch() {
  warm.touch();
  rehearse();
}

for (let i = 0; i < REHEARSALS; i++) {
  touch();
}

// Minor collections only: a full one moves everything, and children then copy
// more pages.
v8.setFlagsFromString('--expose-gc');
const gc = vm.runInNewContext('gc');
gc({ type: 'minor' });
gc({ type: 'minor' });
v8.setFlagsFromString('--no-expose-gc');

// These have acted, as have those of the command line.  V8 refuses the cached
// code of node's own modules while any flag differs from its default; that
// these are the defaults tests/fidelity/node/code_cache.js shows.
v8.setFlagsFromString('--flush-bytecode');
v8.setFlagsFromString('--lazy-feedback-allocation');
v8.setFlagsFromString('--semi-space-growth-factor=2');
v8.setFlagsFromString('--short-builtin-calls');

addon.setup(touch, process, start, internals.exitFields, internals.exitingAt,
            internals.codeAt, internals.hasCodeAt);
process.reallyExit = addon.reallyExit;

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

    // no job: a rehearsal, from a directory where nobody has looked before
    return become(addon.serve() || path.join(dir, 'rehearsal', 'main.js'));
  },
});
