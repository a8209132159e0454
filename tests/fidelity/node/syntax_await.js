function f() {
  await x;
}
