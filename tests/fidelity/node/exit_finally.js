try {
  process.exit(2);
} finally {
  console.log('never');
}
