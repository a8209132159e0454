const value = await Promise.resolve(5);
console.log(value, typeof require, import.meta.url);
