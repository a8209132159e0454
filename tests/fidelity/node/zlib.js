const zlib = require('zlib');
const packed = zlib.gzipSync('hello '.repeat(100));
console.log(packed.length, zlib.gunzipSync(packed).length);
zlib.brotliCompress('hello', (error, data) => {
  console.log(zlib.brotliDecompressSync(data).toString());
});
