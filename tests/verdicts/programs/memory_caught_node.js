// expect: memory_exceeded hook
// without hook: memory_exceeded | error | signaled | success
// limits: {"memory": "64m"}
// output: 
// weight: 2
// an allocation that would be caught

try {
    new ArrayBuffer(1 << 30);
} catch (e) {
    console.log('caught');
}
