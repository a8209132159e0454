Promise.any([Promise.reject(new Error('one')), Promise.reject(2)]);
