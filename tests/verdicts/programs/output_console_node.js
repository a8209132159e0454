// expect: output_exceeded stdout
// limits: {"output": 1024}
// weight: 2
// prints too much

for (let i = 0; i < 1000; i++) {
    console.log(i);
}
