console.log(require('./a').done, require('./b').done);
