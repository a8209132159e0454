function f() {
  throw new Error('mapped');
}
f();
//# sourceMappingURL=missing.js.map
