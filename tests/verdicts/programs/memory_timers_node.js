// expect: memory_exceeded hook
// without hook: memory_exceeded | error | signaled
// limits: {"memory": "64m"}
// weight: 1
// a flood of timers

for (;;) {
    setTimeout(() => {}, 1000000);
}
