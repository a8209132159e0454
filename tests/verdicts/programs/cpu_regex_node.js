// expect: timeout cpu
// limits: {"cpu_time": 400, "timeout": 30000}
// says: CPU time limit of 400ms exceeded
// weight: 1
// a pattern that looks back for ever

/^(a+)+$/.test('a'.repeat(60) + 'b');
