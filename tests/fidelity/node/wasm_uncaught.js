// (func (export "f") unreachable)
const bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3,
  2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 5, 1, 3, 0, 0, 11]);
WebAssembly.instantiate(bytes).then(({ instance }) => instance.exports.f());
