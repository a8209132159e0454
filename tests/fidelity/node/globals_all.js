// no name and no symbol more than a plain start has, and no module's state
console.log(Reflect.ownKeys(globalThis).map(String).sort().join('\n'));
