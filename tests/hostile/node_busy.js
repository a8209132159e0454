// expect: timeout
// limits: {"cpu_time": 500, "timeout": 9000}
// processor time

for (;;) {}
