const crypto = require('crypto');
console.log(crypto.createHash('sha256').update('abc').digest('hex'));
console.log(crypto.createHmac('md5', 'k').update('x').digest('base64'));
console.log(crypto.randomBytes(8).length, crypto.randomUUID().length);
crypto.pbkdf2('p', 's', 10, 16, 'sha512', (error, key) => {
  console.log(key.toString('hex'));
});
