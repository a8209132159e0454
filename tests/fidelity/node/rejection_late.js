const promise = Promise.reject(new Error('late'));
setTimeout(() => promise.catch(() => console.log('too late')), 10);
