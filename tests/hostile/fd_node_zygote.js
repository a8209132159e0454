// expect: success|signaled|error|memory_violation
// times: 3
//
// libuv follows a pointer that it reads from its signal pipe.  Garbage goes to
// whatever descriptor there is: this run may die of it, its zygote and the next
// runs may not (a polite one follows).

const fs = require('fs');
const bytes = Buffer.alloc(256, 0x41);

for (let fd = 3; fd < 64; fd++) {
  try {
    fs.writeSync(fd, bytes);
  } catch {
    // not open, or not for writing
  }
}

console.log('written');
