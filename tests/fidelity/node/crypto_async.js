const crypto = require('crypto');
const { promisify } = require('util');
(async () => {
  const key = await promisify(crypto.pbkdf2)('p', 's', 1000, 32, 'sha256');
  console.log(key.toString('hex'));
  console.log((await promisify(crypto.scrypt)('p', 's', 16)).toString('hex'));
  console.log(Buffer.from(await promisify(crypto.hkdf)(
    'sha512', 'key', 'salt', 'info', 16)).toString('hex'));
  console.log((await promisify(crypto.randomBytes)(20)).length,
              await promisify(crypto.randomInt)(5, 6));
  const digest = await crypto.webcrypto.subtle.digest('SHA-256',
                                                      Buffer.from('abc'));
  console.log(Buffer.from(digest).toString('base64'));
  const { publicKey, privateKey } = await promisify(
    crypto.generateKeyPair)('ec', { namedCurve: 'P-256' });
  const signed = crypto.sign('sha256', Buffer.from('x'), privateKey);
  console.log(crypto.verify('sha256', Buffer.from('x'), publicKey, signed));
})();
const cipher = crypto.createCipheriv('aes-256-gcm', Buffer.alloc(32),
                                     Buffer.alloc(12));
console.log(cipher.update('text', 'utf8', 'hex') + cipher.final('hex'),
            cipher.getAuthTag().toString('hex'));
console.log(crypto.getHashes().length, crypto.getCiphers().length);
for (const name of ['md5', 'sha1', 'sha3-256', 'blake2b512', 'ripemd160']) {
  try {
    console.log(name, crypto.createHash(name).update('').digest('hex'));
  } catch (error) {
    console.log(name, error.code, error.message);
  }
}
