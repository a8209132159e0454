console.log(require('os').cpus().length > 0);
