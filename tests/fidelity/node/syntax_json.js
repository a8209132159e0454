console.log(require('./data.json'));
