function* fibonacci() {
  let [a, b] = [0, 1];
  try {
    for (;;) {
      yield a;
      [a, b] = [b, a + b];
    }
  } finally {
    console.log('closed');
  }
}
for (const n of fibonacci()) {
  if (n > 50) break;
  console.log(n);
}
