// expect: error exit=1
// stderr: RangeError
// too deep: V8 looks before the stack ends

function f() { f(); }
f();
