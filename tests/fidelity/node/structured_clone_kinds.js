const shared = new SharedArrayBuffer(4);
const buffer = new ArrayBuffer(4);
const value = { map: new Map([[1, new Set(['a'])]]), date: new Date(0),
  error: new RangeError('kept'), re: /x/gi, big: 2n, typed: new Uint8Array(2),
  sparse: [1, , 3], undef: undefined };
value.self = value;
const copy = structuredClone(value);
console.log(copy, copy.self === copy, copy.error instanceof RangeError);
console.log(structuredClone(buffer, { transfer: [buffer] }).byteLength,
  buffer.byteLength);
for (const refused of [() => {}, Symbol('s'), new WeakMap(), Promise.resolve(),
  shared]) {
  try {
    console.log(structuredClone(refused));
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
