"""The kinds of runs that the soak mixes, and what each must come to."""

import collections
import json

Kind = collections.namedtuple('Kind', 'name weight body wanted')


def kind(name, weight, language, code, wanted, **more):
    body = json.dumps(dict(more, language=language, code=code)).encode()
    return Kind('%s, %s' % (name, language), weight, body, wanted)


# Writes files of all sizes and leaves them for the slot to forget.
FILES = {'python': '''\
import os
os.mkdir("d")
for i in range(20):
    with open("d/%d" % i, "w") as f:
        f.write("x" * i * 1000)
os.symlink("d", "link")
with open("/dev/shm/left", "w") as f:
    f.write("y" * 100000)
print(open("given.txt").read(), len(os.listdir("link")))
''', 'node': '''\
const fs = require("fs");
fs.mkdirSync("d");
for (let i = 0; i < 20; i++) fs.writeFileSync("d/" + i, "x".repeat(i * 1000));
fs.symlinkSync("d", "link");
fs.writeFileSync("/dev/shm/left", "y".repeat(100000));
console.log(fs.readFileSync("given.txt", "utf8"),
            fs.readdirSync("link").length);
'''}

# A child that outlives its parent is the slot's to end.
STRAY = {'python': '''\
import os, time
if os.fork() == 0:
    os.setsid()
    time.sleep(600)
print("left one")
''', 'node': '''\
const {spawn} = require("child_process");
spawn(process.execPath, ["-e", "setTimeout(() => {}, 600000)"],
      {detached: true, stdio: "ignore"}).unref();
console.log("left one");
'''}

GIVEN = [{'path': 'given.txt', 'content': 'given'}]
CASES = [{'stdin': '%d\n' % i, 'expected': '%d\n' % (2 * i)}
         for i in range(3)]


def success(output):
    return {'status': 'success', 'output': output}


KINDS = (
    kind('hello', 30, 'python', 'print(1+1)\n', success('2\n')),
    kind('hello', 20, 'node', 'console.log(1+1)\n', success('2\n')),
    kind('input', 6, 'python', 'import sys\nprint(len(sys.stdin.read()))\n',
         success('5000\n'), stdin='x' * 5000),
    kind('input', 6, 'node',
         'console.log(require("fs").readFileSync(0).length)\n',
         success('5000\n'), stdin='x' * 5000),
    kind('error', 6, 'python', 'print(1)\nraise ValueError("no")\n',
         {'status': 'error', 'exit_code': 1, 'output': '1\n'}),
    kind('error', 6, 'node', 'console.log(1)\nthrow new Error("no")\n',
         {'status': 'error', 'exit_code': 1, 'output': '1\n'}),
    kind('exit code', 4, 'python', 'import sys\nsys.exit(7)\n',
         {'status': 'error', 'exit_code': 7}),
    kind('exit code', 4, 'node', 'process.exit(7)\n',
         {'status': 'error', 'exit_code': 7}),
    kind('timeout', 1, 'python', 'while True:\n    pass\n',
         {'status': 'timeout', 'reason': 'wall'}, limits={'timeout': '60ms'}),
    kind('timeout', 1, 'node', 'for (;;) {}\n',
         {'status': 'timeout', 'reason': 'wall'}, limits={'timeout': '60ms'}),
    kind('memory', 4, 'python', 'x = bytearray(10 ** 9)\n',
         {'status': 'memory_exceeded'}),
    kind('memory', 4, 'node', 'Buffer.alloc(1e9)\n',
         {'status': 'memory_exceeded'}),
    kind('output', 3, 'python',
         'import os\nwhile True:\n    os.write(1, b"x" * 60000)\n',
         {'status': 'output_exceeded', 'reason': 'stdout'},
         limits={'output': '100k'}),
    # console.log would queue in memory what the pipe does not take
    kind('output', 3, 'node',
         'for (;;) require("fs").writeSync(1, "x".repeat(60000))\n',
         {'status': 'output_exceeded', 'reason': 'stdout'},
         limits={'output': '100k'}),
    kind('signal', 4, 'python', 'import os\nos.kill(os.getpid(), 9)\n',
         {'status': 'signaled', 'signal': 'SIGKILL'}),
    kind('signal', 4, 'node', 'process.kill(process.pid, "SIGTERM");\n'
         'setTimeout(() => {}, 60000);\n',
         {'status': 'signaled', 'signal': 'SIGTERM'}),
    kind('refused call', 3, 'python',
         'import ctypes\nctypes.CDLL(None).mount(0, 0, 0, 0, 0)\n',
         {'status': 'seccomp_violation'}),
    kind('files', 6, 'python', FILES['python'], success('given 20\n'),
         files=GIVEN),
    kind('files', 6, 'node', FILES['node'], success('given 20\n'),
         files=GIVEN),
    kind('stray process', 2, 'python', STRAY['python'],
         success('left one\n'), limits={'processes': 8}),
    kind('stray process', 1, 'node', STRAY['node'], success('left one\n'),
         limits={'processes': 8}),
    kind('by exec', 1, 'python', 'print(1+1)\n', success('2\n'),
         env={'LANG': 'C.UTF-8'}),
    kind('batch', 3, 'python', 'print(2 * int(input()))\n',
         {'status': 'success'}, cases=CASES),
    kind('batch', 2, 'node',
         'console.log(2 * parseInt(require("fs").readFileSync(0, "utf8")))\n',
         {'status': 'success'}, cases=CASES),
)


def complain(one, body):
    """None, or what is wrong with an answer."""
    try:
        verdict = json.loads(body)
    except ValueError:
        return 'no JSON: %.200r' % body
    for key, value in one.wanted.items():
        if verdict.get(key) != value:
            return '%s is %.100r, wanted %r: %.400s' % (
                key, verdict.get(key), value, body.decode())
    return None
