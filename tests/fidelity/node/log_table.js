console.table([{ a: 1, b: 'x' }, { a: 2, c: true }]);
console.table([[1, 2], [3, 4]]);
