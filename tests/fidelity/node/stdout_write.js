process.stdout.write('no newline');
process.stdout.write(Buffer.from([0, 255, 10]));
process.stdout.write('done\n', () => console.error('callback'));
