const { Readable, Transform } = require('stream');
const { pipeline } = require('stream/promises');
pipeline(Readable.from(['a', 'b']), new Transform({
  transform(chunk, encoding, done) { done(null, `${chunk}`.toUpperCase()); },
}), process.stdout);
