const { performance, monitorEventLoopDelay } = require('perf_hooks');
// since the program's start, not since the zygote's
console.log(performance.now() < 20000, process.uptime() < 20,
  performance.now() > 0, process.uptime() > 0);
console.log(Math.abs(performance.timeOrigin + performance.now() - Date.now())
  < 2000);
const { nodeStart, v8Start, bootstrapComplete, environment, loopStart } =
  performance.nodeTiming;
console.log(nodeStart >= 0, v8Start >= 0, environment >= 0,
  bootstrapComplete > 0, loopStart);
console.log(process.cpuUsage().user < 20e6, performance.eventLoopUtilization());
setTimeout(() => {
  console.log(performance.nodeTiming.loopStart > 0,
    performance.now() < 20000, typeof process.hrtime.bigint());
  performance.mark('a');
  console.log(performance.measure('m', 'a').duration >= 0,
    performance.getEntries().map((entry) => entry.name));
}, 1);
