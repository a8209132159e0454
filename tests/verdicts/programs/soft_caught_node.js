// expect: success
// mode: soft
// output: caught\n
// limits: {"memory": "64m"}
// without hook: memory_exceeded | error | signaled | success
// weight: 1
// soft mode, node copes

try {
    new ArrayBuffer(1 << 30);
} catch (e) {
    console.log('caught');
}
