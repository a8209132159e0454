// expect: error exit=1
// stderr: no
// weight: 1
// a rejected promise that nobody handles

Promise.reject(new Error('no'));
