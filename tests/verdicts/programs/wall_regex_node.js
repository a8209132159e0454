// expect: timeout wall
// limits: {"timeout": 300, "cpu_time": 30000}
// says: time limit of 300ms exceeded
// weight: 3
// a pattern that looks back for ever

/^(a+)+$/.test('a'.repeat(60) + 'b');
