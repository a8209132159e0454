// expect: error exit=1
// stderr: no
// a rejected promise that nobody handles

Promise.reject(new Error('no'));
