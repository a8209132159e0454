function f(x) {
  return x.missing.deeper;
}
console.log('before');
f({});
