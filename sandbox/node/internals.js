// internals.js: the parts of node's bootstrap that the zygote has to reach, for
// node 18 to 24, and the door to them closed behind it.
//
// Runs in the Node zygote.  --expose-internals opens the door; programs find it
// as closed as under plain node.

'use strict';

const Module = require('module');

const { internalBinding } = require('internal/test/binding');
const perf = require('internal/perf/utils');
const processMethods = internalBinding('process_methods');
const { constants: k, privateSymbols } = internalBinding('util');

function loadHelpers() {
  try {
    return require('internal/modules/helpers');
  } catch {
    return require('internal/modules/cjs/helpers');     // node 18
  }
}

const BuiltinModule = loadHelpers().loadBuiltinModule('fs').constructor;
const isPublic = (id) => !id.startsWith('internal/');

// Exposed with the door, and for tests of node alone.
function hide() {
  delete globalThis.internalBinding;
  delete globalThis.primordials;

  const ids = Module.builtinModules.filter(isPublic);

  if (BuiltinModule.setRealmAllowRequireByUsers !== undefined) {
    const more = BuiltinModule.getSchemeOnlyModuleNames();

    BuiltinModule.setRealmAllowRequireByUsers([...ids, ...more]);

  } else {
    for (const name of ['canBeRequiredByUsers', 'canBeRequiredWithoutScheme']) {
      const original = BuiltinModule[name];

      BuiltinModule[name] = (id) => isPublic(id) && original(id);
    }
  }

  Module.builtinModules = Object.freeze(ids);
}

// A Worker inherits the command line of its process, with -r and all, unless it
// is given one.  It has to be done before the module that keeps this
// constructor is loaded.
function isolateWorkers(execArgv) {
  const binding = internalBinding('worker');
  const Original = binding.Worker;

  function Worker(url, env, argv, ...rest) {
    return Reflect.construct(Original, [url, env, argv ?? execArgv, ...rest],
                             new.target);
  }

  Worker.prototype = Original.prototype;
  binding.Worker = Worker;
}

const { milestones, constants } = internalBinding('performance');

function setOrigin(mono, real) {
  for (let i = 0; i < milestones.length; i++) {
    if (milestones[i] > 0) {
      milestones[i] = mono;
    }
  }

  const wall = constants?.NODE_PERFORMANCE_MILESTONE_TIME_ORIGIN_TIMESTAMP;
  const ready = constants?.NODE_PERFORMANCE_MILESTONE_BOOTSTRAP_COMPLETE;

  if (wall !== undefined) {
    milestones[wall] = real;
  }

  if (ready !== undefined) {
    milestones[ready] = mono + 1000;
  }

  // node 18: from C, and then a value, as the property's own getter makes it
  if (perf.refreshTimeOrigin !== undefined) {
    perf.refreshTimeOrigin();
    Object.defineProperty(Object.getPrototypeOf(performance), 'timeOrigin', {
      configurable: true, enumerable: true, value: real / 1e3,
    });
  }
}

// The fields that node itself ends with, from node 20 on.
const symbol = privateSymbols.exit_info_private_symbol;

module.exports = {
  hide,
  isolateWorkers,
  setOrigin,
  resetStdio: processMethods.resetStdioForTesting,
  exitFields: symbol === undefined ? null : process[symbol],
  exitingAt: k.kExiting ?? 0,
  codeAt: k.kExitCode ?? 0,
  hasCodeAt: k.kHasExitCode ?? 0,
};
