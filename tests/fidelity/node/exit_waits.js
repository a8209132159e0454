// The loop of a worker turns while 'exit' is emitted in the main thread; what
// is said and set after that is still the program's.
const {spawnSync} = require('child_process');
const {Worker} = require('worker_threads');
const shared = new Int32Array(new SharedArrayBuffer(4));
const code = `
    const {workerData} = require('worker_threads');
    setTimeout(() => {
        Atomics.store(workerData, 0, 1);
        Atomics.notify(workerData, 0);
    }, 20);
`;

setInterval(() => {}, 60000).unref();
process.on('exit', (given) => {
    new Worker(code, {eval: true, workerData: shared});
    Atomics.wait(shared, 0, 0, 20000);
    console.log('exit', given, process.exitCode, Atomics.load(shared, 0));
    process.exitCode = 5;
});
process.on('exit', () => {
    const {error, status} = spawnSync(process.execPath, ['-e', '1']);

    console.log(process.exitCode, error === undefined ? status : 'refused');
});
process.on('beforeExit', () => console.log('before'));
