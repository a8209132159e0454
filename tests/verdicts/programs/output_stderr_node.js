// expect: output_exceeded stderr
// limits: {"output": 1024}
// weight: 4
// prints too much to standard error

console.error('e'.repeat(5000));
