console.log(new Map([['a', 1], [{ b: 2 }, [3]]]), new Set([1, 'two']),
  new WeakMap(), new Uint8Array([1, 2, 255]), new ArrayBuffer(4),
  Buffer.from('hi'), new Date(0), /re/gi, new Error('e').message,
  Promise.resolve(5), new Proxy({ a: 1 }, {}));
