const fs = require('fs');
const out = fs.createWriteStream('big.txt');
for (let i = 0; i < 1000; i++) {
  out.write(`line ${i}\n`);
}
out.end(() => {
  let n = 0;
  fs.createReadStream('big.txt').on('data', (chunk) => { n += chunk.length; })
    .on('end', () => console.log(n));
});
