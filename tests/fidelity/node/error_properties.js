throw Object.assign(new RangeError('with properties'), { code: 'E_MINE', n: 1 });
