const { a, ...rest } = { a: 1, b: 2, c: 3 };
console.log(rest, a?.b?.c ?? 'default', 2 ** 10, 0.1 + 0.2, 10n ** 20n);
label: for (const x of [1, 2]) {
  for (const y of [1, 2]) {
    if (y === 2) continue label;
    console.log(x, y);
  }
}
console.log([3, 1, 2].toSorted(), [1, 2, 3].at(-1), Object.groupBy);
console.log(`${[1, 2]}`, String.raw`\n`, [..."a😀"].length, typeof null);
