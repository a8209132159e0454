const error = new TypeError('bad', { cause: new Error('root') });
error.extra = 5;
console.log(String(error), error.cause.message, Object.keys(error));
console.log(error instanceof Error, error.stack.split('\n')[0]);
