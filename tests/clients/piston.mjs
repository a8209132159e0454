// npm's piston-client, as it comes from the registry: calls it and prints what
// it returned, one JSON value a line.  Runs beside node_modules; the first
// argument is the server.

import piston from 'piston-client';

const say = (value) => console.log(JSON.stringify(value));
const client = piston({ server: process.argv[2] });

say(await client.runtimes());
say(await client.execute('python', 'import sys; print(6 * 7, sys.argv[1:])'));
say(await client.execute('javascript',
                         'console.log(6 * 7, process.argv.slice(2))'));
say(await client.execute('python', 'print(input())', { stdin: 'héllo 🐍' }));
say(await client.execute('python', 'import m; print(m.x)', {
    files: [{ name: 'main.py', content: 'import m; print(m.x)' },
            { name: 'm.py', content: 'x = 1' }], args: [] }));
say(await client.execute('python', 'raise SystemExit(3)'));
say(await client.execute('python', 'while True: pass', { runTimeout: 500 }));
say(await client.execute('python', 'x = bytearray(10 ** 10)'));
say(await client.execute('cobol', 'STOP RUN.'));
say(await client.execute('cobol', 'STOP RUN.', { version: '1.0.0' }));
