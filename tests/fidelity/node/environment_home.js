console.log(require('os').homedir(), require('module').globalPaths);
