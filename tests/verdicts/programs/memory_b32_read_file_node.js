// expect: memory_exceeded hook
// without hook: success | memory_exceeded
// limits: {"memory": "32m"}
// case: B32
// weight: 2
// a big readFileSync

const fs = require('fs');
fs.readFileSync('/usr/bin/node');
