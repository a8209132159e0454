// expect: success
// output: nothing shared
//
// As share_zygote.py, of node: a ring of an event loop, or what the zygote has
// learned, shared with it.

const maps = require('fs').readFileSync('/proc/self/maps', 'utf8');
const other = maps.split('\n').filter((line) => {
  const [, rights, , , , name] = line.split(/\s+/);

  return rights?.[3] === 's' && !name?.includes('page')
         && !name?.startsWith('/usr/');
});

console.log(other.length ? 'breach: ' + other.join() : 'nothing shared');
