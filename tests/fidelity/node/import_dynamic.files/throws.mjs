throw new RangeError('while it is loaded');
