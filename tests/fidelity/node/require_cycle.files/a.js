exports.done = false;
console.log('b from a', require('./b').done);
exports.done = true;
