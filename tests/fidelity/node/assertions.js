const assert = require('assert');
assert.deepStrictEqual({ a: 1 }, { a: 1 });
try {
  assert.strictEqual(1, 2);
} catch (error) {
  console.log(error.code, error.message);
}
assert.deepStrictEqual([1, 2, { a: 1 }], [1, 2, { a: 2 }]);
