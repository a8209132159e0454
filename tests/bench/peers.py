"""What else starts an interpreter: alone, and in the containers that Debian
ships.  Each one starts, has its output read to the end, and is reaped.

A peer that is not installed or does not work here has no row; `missing` says
why.
"""

import json
import os
import shutil
import subprocess
import tempfile

ENV = {'PATH': '/usr/bin:/bin:/usr/sbin:/sbin', 'LANG': 'C.UTF-8',
       'HOME': '/tmp'}
COLD = {'python': ['/usr/bin/python3'], 'node': ['/usr/bin/node',
                                                 '--no-warnings']}
SUFFIX = {'python': '.py', 'node': '.js'}
DIRS = [d for d in ('/usr', '/lib', '/lib64', '/bin', '/etc')
        if os.path.exists(d)]


def spawn(argv, stdin=None):
    """What it printed; a failure ends the benchmark."""
    read, write = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, write, 1), (os.POSIX_SPAWN_CLOSE, read),
               (os.POSIX_SPAWN_OPEN, 0, stdin or '/dev/null', os.O_RDONLY, 0)]
    pid = os.posix_spawn(argv[0], argv, ENV, file_actions=actions)
    os.close(write)
    parts = []
    while True:
        part = os.read(read, 1 << 20)
        if not part:
            break
        parts.append(part)
    os.close(read)
    _, status = os.waitpid(pid, 0)
    if status:
        raise SystemExit('%s ended with %d' % (argv, status))
    return b''.join(parts).decode()


def bwrap(inner, directory):
    binds = [word for d in DIRS for word in ('--ro-bind', d, d)]
    return [shutil.which('bwrap', path=ENV['PATH']), '--unshare-all', *binds,
            '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp',
            '--ro-bind', directory, '/run/prog', *inner]


def unshare(inner, directory):
    """Namespaces alone: no root of its own, no filter, no limits."""
    more = [] if os.geteuid() == 0 else ['--user', '--map-root-user']
    return [shutil.which('unshare', path=ENV['PATH']), *more, '--mount',
            '--pid', '--ipc', '--uts', '--net', '--fork', '--mount-proc',
            *[w.replace('/run/prog', directory) for w in inner]]


def runc_spec(command, inner, directory):
    """runc's own default, with the same mounts as the others."""
    subprocess.run([command, 'spec'], cwd=directory, env=ENV, check=True)
    with open(os.path.join(directory, 'config.json')) as f:
        spec = json.load(f)
    spec['process'].update(terminal=False, args=inner, cwd='/')
    spec['process']['env'] = ['%s=%s' % pair for pair in ENV.items()]
    spec['root'] = {'path': 'rootfs', 'readonly': True}
    for d in [*DIRS, '/run/prog']:
        os.makedirs(os.path.join(directory, 'rootfs' + d), exist_ok=True)
        spec['mounts'].append({
            'destination': d, 'type': 'bind', 'options': ['rbind', 'ro'],
            'source': directory if d == '/run/prog' else d})
    with open(os.path.join(directory, 'config.json'), 'w') as f:
        json.dump(spec, f)


def runc(inner, directory):
    command = os.environ.get('RUNC') or shutil.which('runc', path=ENV['PATH'])
    runc_spec(command, inner, directory)
    return [command, '--root', os.path.join(directory, 'state'), 'run',
            '--bundle', directory, 'bench-%d' % os.getpid()]


CONTAINERS = {'bubblewrap': ('bwrap', bwrap), 'unshare': ('unshare', unshare),
              'runc': ('runc', runc)}


class Peers:
    """One program, in files that all of them can read."""

    def __init__(self, program):
        self.program = program
        self.dir = tempfile.mkdtemp(prefix='bench-', dir='/tmp')
        os.chmod(self.dir, 0o755)
        self.name = 'main' + SUFFIX[program.language]
        with open(os.path.join(self.dir, self.name), 'w') as f:
            f.write(program.code)
        self.stdin = None
        if program.stdin is not None:
            self.stdin = os.path.join(self.dir, 'stdin')
            with open(self.stdin, 'w') as f:
                f.write(program.stdin)
        self.cold = [*COLD[program.language],
                     os.path.join(self.dir, self.name)]
        self.missing = {}

    def run(self, argv):
        output = spawn(argv, self.stdin)
        if self.program.own:
            return int(output) / 1e6
        if output != self.program.output:
            raise SystemExit('%s: %.100r' % (argv, output))
        return None

    def rows(self, containers):
        """(name, function) for each: the plain interpreter comes first."""
        rows = [('cold `%s file`' % os.path.basename(self.cold[0]),
                 lambda: self.run(self.cold))]
        inner = [*COLD[self.program.language], '/run/prog/' + self.name]
        for name, (command, argv_of) in (CONTAINERS if containers
                                         else {}).items():
            try:
                if not (os.environ.get(command.upper())
                        or shutil.which(command, path=ENV['PATH'])):
                    raise OSError('not installed')
                argv = argv_of(inner, self.dir)
                subprocess.run(argv, env=ENV, check=True, timeout=30,
                               capture_output=True, stdin=subprocess.DEVNULL)
            except (OSError, subprocess.SubprocessError) as e:
                said = getattr(e, 'stderr', None)
                self.missing[name] = (said.decode().strip()[-200:] if said
                                      else str(e))
                continue
            rows.append((name, lambda argv=argv: self.run(argv)))
        return rows

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)
