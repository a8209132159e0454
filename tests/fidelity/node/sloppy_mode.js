undeclared = 5;
console.log(undeclared, this === module.exports, typeof globalThis.undeclared);
delete globalThis.undeclared;
with ({ x: 1 }) console.log(x);
