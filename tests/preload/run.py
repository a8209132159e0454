#!/usr/bin/python3
"""sandbox_preload: what is refused, and that programs see no difference.

    run.py --build DIR [--cc CC] [NAME...]

Modules of its own are put where every python3 finds them (/usr/local/lib), in one
package, which is removed at the end; without the right to write there nothing
can be tested.  A refusal is read from the zygote itself; the rest are runs of a
`deer-flow serve`, compared with the same program under /usr/bin/python3.
numpy is among the modules where the machine has it.  Prints TAP.
"""

import argparse
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import sysconfig
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = '/usr/bin/python3'
SITE = pathlib.Path(subprocess.run(
    [PYTHON, '-c', 'import site; print(site.getsitepackages()[0])'],
    capture_output=True, text=True, check=True).stdout.strip())
NAME = 'sbx_preload_%d' % os.getpid()
RUN = pathlib.Path('/tmp/run')
PACKAGE = SITE / NAME
CLEAN = {'PATH': '/usr/bin:/bin', 'HOME': '/tmp', 'LANG': 'C.UTF-8'}
SECONDS = 60

MESSAGE = struct.Struct('IIIiiIIIIQQii256s')     # sbx_zmsg_t
FAILED = 5

# Each is a module, and what is said when it is refused.
REFUSED = {
    'thread': ('import threading, time\n'
               'threading.Thread(target=time.sleep, args=(60,),\n'
               '                 daemon=True).start()\n',
               'it started a thread'),
    'native': (None, 'it started a thread'),
    'child': ('import subprocess\n'
              'left = subprocess.Popen(["sleep", "60"])\n',
              'it left a child process'),
    'network': ('import socket\nleft = socket.socket()\n',
                'it keeps socket:['),
    'poll': ('import select\nleft = select.epoll()\n',
             'it keeps anon_inode:[eventpoll] open'),
    'opened': ('left = open(__file__)\n', 'opened.py open'),
    'shared': ('import mmap\nleft = mmap.mmap(-1, 4096)\n',
               'it has memory that all runs would share'),
    'timer': ('import signal\nsignal.setitimer(signal.ITIMER_REAL, 3600)\n',
              'it left a timer running'),
    'missing': (None, 'cannot be imported: ModuleNotFoundError: No module'),
    'raises': ('1 / 0\n', 'cannot be imported: ZeroDivisionError: division'),
    'exits': ('raise SystemExit("no\\n more")\n',
              'cannot be imported: SystemExit: no more'),
}

# A package that does what packages do.
GOOD = {
    'good/__init__.py': 'from . import first\n'
                        'from .second import name\n'
                        'import csv, importlib\n'
                        'importlib.import_module(".by_name", __package__)\n'
                        'value = "good"\n',
    'good/first.py': 'import xml.dom\n',
    'good/second.py': 'from . import first\nimport csv\nname = "second"\n',
    'good/by_name.py': '',
    'good/apart.py': 'from . import first\nvalue = "apart"\n',
    'hooked.py': 'import os\n'
                 'forks = []\n'
                 'os.register_at_fork(after_in_child=lambda: forks.append(1))\n',
}
PRELOAD = ['good', 'good.apart', 'hooked']

HIDES = 'named as a package'

# Run inside and outside: the output must be the same.
SAME = {
    'unseen': 'import sys\n'
              'print([n for n in sys.modules if n.startswith(("PKG", "xml",\n'
              '                                               "numpy"))])\n'
              'import PKG\n'
              'print(hasattr(PKG, "good"), dir(PKG))\n',
    'order': 'import sys, csv, xml\n'
             'print(hasattr(xml, "dom"))\n'
             'import PKG.good as good\n'
             'print([n for n in sys.modules\n'
             '       if n.startswith(("PKG", "xml"))])\n'
             'print(sorted(n for n in vars(good) if n[0] != "_"))\n'
             'print(hasattr(good, "apart"), good.__spec__.origin)\n'
             'from PKG.good import apart\n'
             'print(apart.value, good.apart is apart)\n',
    'submodule': 'import PKG.good.apart, sys\n'
                 'print([n for n in sys.modules if n.startswith("PKG")])\n',
    'import_module': 'import importlib\n'
                     'm = importlib.import_module("PKG.good.second")\n'
                     'print(m.name, m.first.__name__)\n',
    'find_spec': 'import importlib.util, sys\n'
                 'print(importlib.util.find_spec("PKG.good").name)\n'
                 'print("PKG.good" in sys.modules)\n',
    'again': 'import sys, PKG.good as a\n'
             'del sys.modules["PKG.good"]\n'
             'import PKG.good as b\n'
             'print(a is b)\n',
    'nothing': 'try:\n'
               '    import PKG.nothing\n'
               'except ImportError as e:\n'
               '    print(e, e.__traceback__.tb_next)\n'
               'import PKG.good.nothing\n',
    HIDES: 'if __name__ == "__main__":\n'
           '    import sys\n'
           '    try:\n'
           '        import PKG.good\n'
           '    except ImportError as e:\n'
           '        print(e, [n for n in sys.modules if "PKG" in n])\n',
}
NUMPY = {
    'numpy': 'import sys\n'
             'import pickle, ctypes, urllib.parse, pathlib, secrets\n'
             'import contextvars, ntpath, __future__, tempfile\n'
             'before = set(sys.modules)\n'
             'import numpy as np\n'
             'print([n for n in sys.modules if n.startswith("numpy")])\n'
             'print(np.linalg.inv(np.eye(3) * 2), np.ones(4).sum())\n'
             'print("numpy.testing" in sys.modules, "testing" in vars(np))\n',
    'numpy_inner': 'from numpy.linalg import det\n'
                   'print(round(det([[1, 2], [3, 4]]), 6))\n',
}


def options():
    p = argparse.ArgumentParser()
    p.add_argument('--build', required=True, type=pathlib.Path)
    p.add_argument('--cc', default='gcc')
    p.add_argument('name', nargs='*')
    args = p.parse_args()
    args.build = args.build.resolve()
    return args


def install(args):
    PACKAGE.mkdir(mode=0o755)
    (PACKAGE / '__init__.py').write_text('')
    for name, (text, _) in REFUSED.items():
        if text is not None:
            (PACKAGE / (name + '.py')).write_text(text)
    for name, text in GOOD.items():
        (PACKAGE / name).parent.mkdir(mode=0o755, exist_ok=True)
        (PACKAGE / name).write_text(text)
    subprocess.run(
        [args.cc, '-shared', '-fPIC', '-o', PACKAGE / 'native.so',
         '-I' + sysconfig.get_path('include'), HERE / 'thread.c', '-lpthread'],
        check=True)


def refusal(args, names):
    """The (number, sentence) that a zygote refuses with, or None."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    null = os.open('/dev/null', os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, 64),
               (os.POSIX_SPAWN_DUP2, theirs.fileno(), 65)]
    actions += [(os.POSIX_SPAWN_DUP2, 65 if fd == 3 else 64, fd)
                for fd in range(6)]
    actions += [(os.POSIX_SPAWN_CLOSE, fd) for fd in (64, 65)]
    library = str(args.build / 'libsbx_python.so')
    pid = os.posix_spawn('/usr/bin/python3', ['/usr/bin/python3'],
                         {**CLEAN, 'LD_PRELOAD': library,
                          'SBX_PRELOAD': ' '.join(names)},
                         file_actions=actions, setpgroup=0)
    theirs.close()
    os.close(null)
    ours.settimeout(SECONDS)
    try:
        data = ours.recv(4096)
    finally:
        ours.close()
        os.killpg(pid, signal.SIGKILL)      # with the child that one left
        os.waitpid(pid, 0)
    if len(data) != MESSAGE.size:
        return None
    fields = MESSAGE.unpack(data)
    if fields[0] != FAILED or fields[1] == 0:
        return None
    return fields[1], fields[13].split(b'\0')[0].decode()


def planted(args, report):
    """What lies on the host where a run's own directory will be is not
    executed by the zygote, which rehearses runs before it is in a sandbox."""
    made = not RUN.exists()
    mark = RUN / 'mark'
    files = {RUN / 'warm': '# coding: idna\n',         # imports stringprep
             RUN / 'stringprep.py': 'open(%r, "w")\n' % str(mark)}
    RUN.mkdir(exist_ok=True)
    try:
        for path, text in files.items():
            with open(path, 'x') as f:
                f.write(text)
        refusal(args, [])
        report.check(not mark.exists(), 'files in the host\'s %s' % RUN)
    finally:
        for path in (*files, mark):
            path.unlink(missing_ok=True)
        shutil.rmtree(RUN / '__pycache__', ignore_errors=True)
        if made:
            RUN.rmdir()


class Server:
    def __init__(self, args, work, modules):
        self.args, self.work = args, work
        self.address = 'unix:%s/socket' % work
        self.log = open(work / 'log', 'w+')
        quoted = ','.join('"%s"' % m for m in modules)
        self.process = subprocess.Popen(
            [args.build / 'deer-flow', 'serve', '--listen', self.address,
             '--config', '{"slots":2,"standby":1,"preload":[%s]}' % quoted],
            env=CLEAN, stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log)
        limit = time.monotonic() + SECONDS
        while not (work / 'socket').exists():
            if time.monotonic() > limit or self.process.poll() is not None:
                raise SystemExit('deer-flow serve: ' + self.text())
            time.sleep(0.05)

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def run(self, program, *more):
        done = subprocess.run(
            [self.args.build / 'deer-flow', 'run', '--connect', self.address,
             *more, program], env=CLEAN, capture_output=True, text=True,
            timeout=SECONDS)
        return done.stdout, done.stderr, done.returncode

    def stop(self):
        self.process.terminate()
        self.process.wait(SECONDS)
        self.log.close()


def outside(program):
    """Where a run's own file lies, so that tracebacks name the same."""
    done = subprocess.run([PYTHON, program.name], cwd=program.parent,
                          env=CLEAN, capture_output=True, text=True,
                          timeout=SECONDS)
    text = done.stderr.replace(str(program.parent), '/tmp/run')
    return done.stdout, text, done.returncode


class Report:
    def __init__(self):
        self.count = self.failed = 0

    def check(self, ok, name, detail=''):
        self.count += 1
        self.failed += not ok
        print('%s %d - %s' % ('ok' if ok else 'not ok', self.count, name),
              flush=True)
        for line in [] if ok else str(detail).splitlines():
            print('#   ' + line)


def refused(args, report):
    for name, (_, says) in REFUSED.items():
        got = refusal(args, ['csv', '%s.%s' % (NAME, name)])
        report.check(got is not None and got[0] == 2 and says in got[1],
                     'refused: ' + name, got)


def fidelity(report, server, work, programs):
    for name, text in programs.items():
        base = NAME + '.py' if name == HIDES else 'main.py'
        program = work / base
        program.write_text(text.replace('PKG', NAME))
        inside = server.run(program, '--name', base, '--timeout', '20s')
        plain = outside(program)
        report.check(inside[0] == plain[0] and inside[2] == plain[2]
                     and same_errors(inside[1], plain[1]),
                     'as outside: ' + name, '%r\n%r' % (inside, plain))
        program.unlink()


def same_errors(inside, plain):
    """But for deer-flow's own last line about a failure."""
    lines = [x for x in inside.splitlines() if not x.startswith('deer-flow')]
    return [x.split('/')[-1] for x in lines] \
        == [x.split('/')[-1] for x in plain.splitlines()]


def each_its_own(report, server, work, numpy):
    """What a fork shares is renewed: hooks are called, numbers differ."""
    program = work / 'main.py'
    program.write_text('import %s.hooked as h\nprint(len(h.forks))\n' % NAME)
    got = server.run(program)
    report.check(got[0] == '1\n', 'hooks of modules are called', got)
    if numpy:
        program.write_text('import numpy\nprint(numpy.random.random(4))\n')
        got = {server.run(program)[0] for _ in range(4)}
        report.check(len(got) == 4, 'numpy.random differs by run', got)


def has_numpy():
    return subprocess.run([PYTHON, '-c', 'import numpy'], env=CLEAN,
                          capture_output=True).returncode == 0


def main():
    args = options()
    report = Report()
    if not os.access(SITE, os.W_OK):
        print('1..0 # skipped: %s cannot be written to' % SITE)
        return 0
    numpy = has_numpy()
    work = pathlib.Path(tempfile.mkdtemp(prefix='preload.'))
    try:
        install(args)
        refused(args, report)
        planted(args, report)
        modules = ['%s.%s' % (NAME, m) for m in PRELOAD]
        server = Server(args, work, modules + ['numpy'] * numpy)
        try:
            fidelity(report, server, work, {**SAME, **(NUMPY if numpy else {})})
            each_its_own(report, server, work, numpy)
        finally:
            server.stop()
    finally:
        shutil.rmtree(PACKAGE, ignore_errors=True)
        shutil.rmtree(work, ignore_errors=True)
    print('1..%d' % report.count)
    return 1 if report.failed else 0


if __name__ == '__main__':
    sys.exit(main())
