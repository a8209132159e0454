process.nextTick(() => {
  console.log('tick 1');
  Promise.resolve().then(() => console.log('promise in tick'));
  process.nextTick(() => console.log('tick 2'));
});
Promise.resolve().then(() => process.nextTick(() => console.log('tick 3')));
