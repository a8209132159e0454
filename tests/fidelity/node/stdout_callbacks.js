const { stdout } = process;
let n = 0;
const done = (error) => {
  n++;
  if (n === 3) {
    console.log('written', error, stdout.writableLength);
  }
};
console.log(stdout.write('a\n', done), stdout.write('ä\n', 'latin1', done),
  stdout.write(new Uint8Array([98, 10]), done));
stdout.cork();
stdout.write('corked ');
stdout.write('twice\n');
stdout.uncork();
stdout.on('finish', () => console.error('finish'));
stdout.end('the end\n', () => console.error('ended'));
try {
  stdout.write('too late\n', (error) => console.error(error.code));
} catch (error) {
  console.error(error.code);
}
stdout.on('error', (error) => console.error('error', error.code));
