const { Worker, isMainThread, parentPort, resourceLimits } =
  require('worker_threads');
if (isMainThread) {
  console.log(process.execArgv, resourceLimits);
  const options = [
    {},
    { execArgv: ['--no-deprecation', '--stack-trace-limit=3'] },
    { env: { ONLY: 'this' } },
    { argv: ['one', 'two'] },
    { resourceLimits: { maxOldGenerationSizeMb: 32, stackSizeMb: 2 } },
    { execArgv: ['--expose-internals', '-r', './none.js'] },
    { execArgv: ['--no-such-flag'] },
  ];
  (async () => {
    for (const option of options) {
      await new Promise((done) => {
        try {
          const worker = new Worker(__filename, option);
          worker.on('message', (m) => console.log(m));
          worker.on('error', (e) => console.log(e.name, e.code, e.message));
          worker.on('exit', done);
        } catch (error) {
          console.log(error.code, error.message);
          done();
        }
      });
    }
  })();
} else {
  parentPort.postMessage([process.execArgv, process.argv.slice(1),
    Object.keys(process.env).sort(), resourceLimits,
    Error.stackTraceLimit, process.noDeprecation]);
}
