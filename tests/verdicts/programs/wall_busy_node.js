// expect: timeout wall
// row: 5
// limits: {"timeout": 300, "cpu_time": 30000}
// says: time limit of 300ms exceeded
// weight: 3
// busy

for (;;);
