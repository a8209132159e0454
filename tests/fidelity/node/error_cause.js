try {
  JSON.parse('{bad');
} catch (error) {
  throw new Error('wrapped', { cause: error });
}
