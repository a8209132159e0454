const { readFile, writeFile } = require('fs/promises');
(async () => {
  await writeFile('x', 'async');
  console.log(await readFile('x', 'utf8'));
  await readFile('missing');
})();
