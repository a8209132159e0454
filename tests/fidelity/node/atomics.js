const shared = new Int32Array(new SharedArrayBuffer(8));
Atomics.add(shared, 0, 5);
console.log(Atomics.load(shared, 0), Atomics.wait(shared, 1, 0, 5));
