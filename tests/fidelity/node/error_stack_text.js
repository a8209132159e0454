function f() {
  return new Error('here').stack;
}
console.log(f());
