class Animal {
  #secret = 1;
  constructor(name) { this.name = name; }
  get upper() { return this.name.toUpperCase(); }
  static kind = 'animal';
}
class Dog extends Animal {}
console.log(Animal, Dog, new Dog('rex'), Object.create(null), () => {},
  function named() {}, async () => {}, function* g() {});
