Promise.reject(new Error('nobody catches'));
console.log('main');
