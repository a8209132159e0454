console.log('before');
await Promise.reject(new Error('at top level'));
