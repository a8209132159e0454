// expect: output_exceeded stdout
// limits: {"output": 1024}
// weight: 4
// prints too much

for (let i = 0; i < 1000; i++) {
    console.log(i);
}
