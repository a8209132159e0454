const copy = structuredClone(new Map([['x', { d: new Date(0), s: new Set([1]) }]]));
console.log(copy);
try {
  structuredClone(() => {});
} catch (error) {
  console.log(error.name, error.message);
}
