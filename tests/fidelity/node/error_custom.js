class MyError extends Error {
  constructor(message) {
    super(message);
    this.name = 'MyError';
  }
}
throw new MyError('custom');
