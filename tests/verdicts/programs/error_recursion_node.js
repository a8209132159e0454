// expect: error exit=1
// stderr: RangeError
// weight: 1
// too deep: V8 looks before the stack ends

function f() { f(); }
f();
