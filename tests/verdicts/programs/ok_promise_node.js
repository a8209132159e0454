// expect: success
// output: late\n
// what is awaited is printed

setTimeout(() => console.log('late'), 20);
