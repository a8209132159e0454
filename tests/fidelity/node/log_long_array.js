console.log(Array.from({ length: 150 }, (_, i) => i));
console.log('x'.repeat(200).split(''));
