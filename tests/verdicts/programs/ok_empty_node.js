// expect: success exit=0
// output: 
// case: 21
// weight: 2
// defines a function, prints nothing: an empty string, not null

function f() {}
