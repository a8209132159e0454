const readline = require('readline');
(async () => {
  const lines = readline.createInterface({ input: process.stdin,
    crlfDelay: Infinity });
  const next = lines[Symbol.asyncIterator]();
  const count = Number((await next.next()).value);
  for (let i = 0; i < count; i++) {
    console.log((await next.next()).value.toUpperCase());
  }
  lines.close();
  console.log(await next.next(), await next.next());
})();
