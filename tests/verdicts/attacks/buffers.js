// limits: {"memory": "64m", "timeout": 30000}
// the heap's neighbours, where the runtime reserves more than it uses

const { writeSync } = require('fs');
const blocks = [];
for (let i = 1; i <= 2048; i++) {
    blocks.push(Buffer.alloc(1 << 20, 1));
    writeSync(1, i + '\n');
}
setTimeout(() => {}, 60000);
