// expect: memory_exceeded hook
// without hook: memory_exceeded | error | signaled
// limits: {"memory": "64m"}
// weight: 1
// a larger heap by a flag of the engine's is no larger limit

require('v8').setFlagsFromString('--max-old-space-size=4096');
const a = [];
for (;;) {
    a.push({ i: a.length });
}
