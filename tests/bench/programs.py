"""The programs of the benchmark, and what each of them prints.

Those of `own` print the nanoseconds that their work took by their own clock:
beside the plain interpreter that is the speed of the steady state, without
anybody's start.
"""

import collections

Program = collections.namedtuple(
    'Program', 'case language code output stdin own', defaults=(None, False))

# What answers to exercises begin with; the zygote has imported all of them.
FIFTEEN = ('bisect', 'collections', 'copy', 'dataclasses', 'datetime',
           'decimal', 'fractions', 'functools', 'heapq', 'itertools', 'json',
           'math', 'random', 're', 'statistics')

# What it has not.
OTHERS = ('argparse', 'asyncio', 'csv', 'unittest')

MIB = 1 << 20

CPU = {'python': '''\
import time
start = time.perf_counter_ns()
sieve = bytearray([1]) * 2000000
total = 0
for i in range(2, 2000000):
    if sieve[i]:
        total += i
        if i < 1415:
            sieve[i * i::i] = bytes(len(range(i * i, 2000000, i)))
for n in range(1, 30000):
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        total ^= n
print(time.perf_counter_ns() - start)
''', 'node': '''\
const start = process.hrtime.bigint();
const sieve = new Uint8Array(8000000).fill(1);
let total = 0;
for (let i = 2; i < sieve.length; i++) {
    if (sieve[i]) {
        total += i;
        if (i < 2829) {
            for (let k = i * i; k < sieve.length; k += i) sieve[k] = 0;
        }
    }
}
for (let i = 1; i < 400000; i++) {
    for (let n = i; n !== 1; n = n % 2 === 0 ? n / 2 : 3 * n + 1) total ^= n;
}
console.log(String(process.hrtime.bigint() - start));
'''}

ALLOCATING = {'python': '''\
import time
start = time.perf_counter_ns()
kept = []
for i in range(60):
    table = {str(k): [k, (k, k + 1), "x" * (k % 40)] for k in range(8000)}
    kept.append(sorted(table.values(), key=lambda v: v[2])[:500])
    if len(kept) > 20:
        kept.pop(0)
print(time.perf_counter_ns() - start)
''', 'node': '''\
const start = process.hrtime.bigint();
const kept = [];
for (let i = 0; i < 25; i++) {
    const table = new Map();
    for (let k = 0; k < 20000; k++) {
        table.set(String(k), {k, pair: [k, k + 1], text: "x".repeat(k % 40)});
    }
    kept.push([...table.values()].sort((a, b) => a.text < b.text ? -1 : 1)
        .slice(0, 500));
    if (kept.length > 20) kept.shift();
}
console.log(String(process.hrtime.bigint() - start));
'''}

HELLO = {'python': Program('hello', 'python', 'print(1+1)\n', '2\n'),
         'node': Program('hello', 'node', 'console.log(1+1)\n', '2\n')}

IMPORTS = tuple(Program(case, 'python',
                        'import %s\nprint(1+1)\n' % ', '.join(names), '2\n')
                for case, names in (('fifteen imports', FIFTEEN),
                                    ('four others', OTHERS)))

STREAMS = (
    Program('1 MiB of input', 'python',
            'import sys\nprint(len(sys.stdin.read()))\n', '%d\n' % MIB,
            'x' * MIB),
    Program('1 MiB of output', 'python', 'print("x" * %d)\n' % (MIB - 1),
            'x' * (MIB - 1) + '\n'),
    Program('1 MiB of input', 'node',
            'console.log(require("fs").readFileSync(0).length)\n',
            '%d\n' % MIB, 'x' * MIB),
    Program('1 MiB of output', 'node',
            'console.log("x".repeat(%d))\n' % (MIB - 1),
            'x' * (MIB - 1) + '\n'),
)

STEADY = tuple(Program(case, language, codes[language], None, None, True)
               for case, codes in (('CPU-bound', CPU),
                                   ('allocating', ALLOCATING))
               for language in ('python', 'node'))

# Says when it goes too far, by the clock that all processes share.
VIOLATION = '''\
import time
print(time.monotonic_ns(), flush=True)
x = bytearray(10 ** 9)
'''

SLEEP = {'python': 'import time\nprint(1, flush=True)\ntime.sleep(300)\n',
         'node': 'setTimeout(() => {}, 300000)\n'}
