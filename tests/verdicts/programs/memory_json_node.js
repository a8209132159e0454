// expect: memory_exceeded hook
// without hook: success | memory_exceeded
// limits: {"memory": "64m"}
// weight: 1
// text that grows when it is parsed

JSON.parse('[' + '{"a":1},'.repeat(3000000) + '0]');
