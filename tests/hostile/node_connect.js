// expect: success
// output: refused
// the network

require('net').connect(80, '127.0.0.1').on('error', () => console.log('refused'))
    .on('connect', () => console.log('breach'));
