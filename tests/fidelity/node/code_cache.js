// Code that was compiled elsewhere is of use here, node's own among it: V8
// takes none from an engine with other flags.
console.log(require('v8').cachedDataVersionTag());
