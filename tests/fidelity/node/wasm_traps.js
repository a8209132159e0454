// (memory 1) (func (export "load") (param i32) (result i32) ...)
const bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 127,
  1, 127, 3, 2, 1, 0, 5, 4, 1, 1, 1, 3, 7, 17, 2, 4, 108, 111, 97, 100, 0, 0,
  6, 109, 101, 109, 111, 114, 121, 2, 0, 10, 9, 1, 7, 0, 32, 0, 40, 2, 0, 11]);
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
console.log(exports.load(0), exports.memory.buffer.byteLength);
for (const address of [65532, 65533, 0x7fffffff, -1]) {
  try {
    console.log(exports.load(address));
  } catch (error) {
    console.log(error instanceof WebAssembly.RuntimeError, error.message);
    console.log(error.stack.split('\n').length > 1);
  }
}
console.log(exports.memory.grow(1), exports.load(65533));
try {
  exports.memory.grow(10);
} catch (error) {
  console.log(error.name, error.message);
}
WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 9, 0, 0, 0])).catch(
  (error) => console.log(error.name, error.message));
console.log(WebAssembly.validate(bytes), WebAssembly.validate(bytes.slice(9)));
