console.log(JSON.stringify({ a: [1, { b: undefined, c: () => {} }], d: NaN,
  e: new Date(0), f: 'é\u2028' }, null, 2));
console.log(JSON.parse('[1e3, "\\u00e9", null]', (key, value) => value));
JSON.parse('{"a": tru}');
