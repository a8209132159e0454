const zlib = require('zlib');
const { promisify } = require('util');
const { Readable } = require('stream');
const data = Buffer.from('0123456789abcdef'.repeat(20000));
(async () => {
  for (const [pack, unpack] of [['gzip', 'gunzip'], ['deflate', 'inflate'],
    ['deflateRaw', 'inflateRaw'], ['brotliCompress', 'brotliDecompress']]) {
    const packed = await promisify(zlib[pack])(data);
    const back = await promisify(zlib[unpack])(packed);
    console.log(pack, packed.length, back.equals(data));
  }
  let size = 0;
  for await (const part of Readable.from([data, data])
    .pipe(zlib.createGzip()).pipe(zlib.createGunzip())) {
    size += part.length;
  }
  console.log(size);
  zlib.gunzip(data, (error) => console.log(error.code, error.message));
  zlib.inflate(zlib.deflateSync(data).subarray(0, 100),
               (error) => console.log(error.code, error.message));
})();
