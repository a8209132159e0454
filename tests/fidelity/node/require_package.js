console.log(require('mine'), require('mine/extra'));
