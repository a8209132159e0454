let n = 0;
(function more() {
  while (n++ < 100) {
    if (!process.stdout.write('x'.repeat(9999) + '\n')) {
      process.stdout.once('drain', more);
      return;
    }
  }
  process.stderr.write('all of it\n');
})();
