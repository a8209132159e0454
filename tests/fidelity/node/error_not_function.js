const o = {};
o.f();
