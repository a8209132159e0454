console.log('before');
throw new Error('in a module');
