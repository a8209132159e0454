console.log(process.env.GREETING, process.env.EMPTY, process.env.NONE);
process.env.NUMBER = 5;
console.log(typeof process.env.NUMBER);
