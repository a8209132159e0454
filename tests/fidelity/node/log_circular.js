const a = { name: 'a' };
a.self = a;
a.list = [a, { a }];
console.log(a);
