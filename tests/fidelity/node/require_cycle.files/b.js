exports.done = false;
console.log('a from b', require('./a').done);
exports.done = true;
