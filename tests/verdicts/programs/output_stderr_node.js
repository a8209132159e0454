// expect: output_exceeded stderr
// limits: {"output": 1024}
// weight: 2
// prints too much to standard error

console.error('e'.repeat(5000));
