// expect: success
// output: no\n
// weight: 1
// there is no network, and that is told

require('net').connect(80, '127.0.0.1').on('error', () => console.log('no'));
