// A listener of 'exit' that throws, or a reallyExit of the program's own, and
// it goes on although process._exiting is true: it is not at its end.
const reallyExit = process.reallyExit;
process.once('exit', () => { throw new Error('not yet'); });
process.once('uncaughtException', ({message}) => {
    console.log(message, process._exiting);
    setTimeout(() => {
        process.reallyExit = () => {};
        process.exit(4);
        process.reallyExit = reallyExit;
        setTimeout(async () => {
            console.log('still here', process.exitCode);
            await require('fs').promises.stat('.');
            throw new Error('its own end');
        }, 5);
    }, 5);
});
setTimeout(() => process.exit(3), 1);
