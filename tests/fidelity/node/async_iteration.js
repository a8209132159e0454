async function* numbers() {
  for (let i = 0; i < 3; i++) {
    await null;
    yield i;
  }
}
(async () => {
  for await (const n of numbers()) {
    console.log(n);
  }
  console.log(await Promise.allSettled([1, Promise.reject(2)]));
})();
