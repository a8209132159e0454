(async () => {
  await new Promise(() => {});
  console.log('never');
})();
console.log('end');
