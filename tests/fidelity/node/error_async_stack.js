async function inner() {
  await null;
  throw new Error('async');
}
async function outer() {
  await inner();
}
outer();
