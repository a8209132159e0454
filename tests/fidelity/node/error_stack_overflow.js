function forever() {
  return forever() + 1;
}
try {
  forever();
} catch (error) {
  console.log(error instanceof RangeError, error.message);
}
