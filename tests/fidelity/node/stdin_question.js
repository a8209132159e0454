const { createInterface } = require('readline/promises');
(async () => {
  const terminal = createInterface({ input: process.stdin,
    output: process.stdout });
  const name = await terminal.question('name? ');
  console.log('hello', name);
  terminal.close();
})();
