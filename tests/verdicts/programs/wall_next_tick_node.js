// expect: timeout wall
// limits: {"timeout": 300, "cpu_time": 30000}
// says: time limit of 300ms exceeded
// weight: 4
// never lets the loop go on

function again() { process.nextTick(again); }
again();
