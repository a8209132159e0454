console.log('hi');
console.log(1 + 1);
