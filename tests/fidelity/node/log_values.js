console.log(1, 'two', [3, [4, [5, [6, [7]]]]], { a: { b: { c: { d: 1 } } } });
console.log(null, undefined, NaN, -0, 1n, Symbol('s'), true);
console.log([,, 1], [undefined], 'a\nb', ['a\nb', "it's"]);
console.log('%s is %d years and %i, %f, %j, %o, %%', 'x', 42.5, 42.5, '1.5',
  { a: 1 }, [1]);
