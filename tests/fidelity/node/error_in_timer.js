setTimeout(function late() {
  throw new Error('in a timer');
}, 5);
console.log('main');
