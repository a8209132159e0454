const items = Array.from({ length: 20 }, (_, i) => ({ k: i % 3, i }));
console.log(items.sort((a, b) => a.k - b.k).map((x) => x.i).join(' '));
console.log([10, 9, 1].sort(), ['b', undefined, 'a'].sort());
