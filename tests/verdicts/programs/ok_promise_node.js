// expect: success
// output: late\n
// weight: 2
// what is awaited is printed

setTimeout(() => console.log('late'), 20);
