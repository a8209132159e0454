// expect: success
// limits: {"memory": "128m"}
// weight: 1
// many times its memory, garbage each time

for (let i = 0; i < 2000; i++) {
    new Array(10000).fill(i);
}
