"""An nginx of our own, with the module, in a directory of its own.

Every wait has an end, every process that is signalled was started here, and
after each scenario nothing of it may be left: no process, no socket.
"""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import threading
import time

import processes

CONF = '''
load_module %(module)s;
%(user)s
worker_processes 2;
pid %(prefix)s/nginx.pid;
error_log %(prefix)s/logs/error.log notice;
env LD_PRELOAD;
env ASAN_OPTIONS;
daemon %(daemon)s;
master_process %(master)s;
events { worker_connections 128; }
http {
    access_log %(prefix)s/logs/access.log;
    client_body_temp_path %(prefix)s/temp/body;
    proxy_temp_path %(prefix)s/temp/proxy;
    fastcgi_temp_path %(prefix)s/temp/fastcgi;
    uwsgi_temp_path %(prefix)s/temp/uwsgi;
    scgi_temp_path %(prefix)s/temp/scgi;
    sandbox_command %(command)s;
    sandbox_slots 4;
    sandbox_standby 1;
    %(http)s
    server {
        listen 127.0.0.1:%(port)d;
        location = /plain { return 200 "plain\\n"; }
        location = /metrics { sandbox_metrics; }
        %(sandbox)s
    }
}
'''

SANDBOX = 'location = /run { sandbox any; sandbox_timeout 20s; }'

# A program that can be seen from outside while it runs, and then ends well.
PROGRAMS = {
    'python': 'import ctypes, time\n'
              'ctypes.CDLL(None).prctl(15, b"%(name)s", 0, 0, 0)\n'
              'time.sleep(%(seconds)s)\n'
              'print("%(name)s")\n',
    'node': 'process.title = "%(name)s";\n'
            'setTimeout(() => console.log("%(name)s"), %(seconds)s * 1000);\n',
}

LIMIT = 15      # seconds that any step may take
SCALE = float(os.environ.get('LIFECYCLE_SCALE', '1'))   # slow machines


class Failure(Exception):
    pass


def wait_for(what, condition, seconds=LIMIT):
    """Returns the condition's first true value."""
    end = time.monotonic() + seconds * SCALE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failure('not within %g s: %s' % (seconds * SCALE, what))
        time.sleep(0.02)


class Run(threading.Thread):
    """A request that is on its way, as a client sees it."""

    count = 0

    def __init__(self, box, language, seconds, **limits):
        super().__init__(daemon=True)
        Run.count += 1
        self.name = 'life%d-%d' % (os.getpid() % 10000, Run.count)
        self.box, self.language = box, language
        self.code = PROGRAMS[language] % {'name': self.name,
                                          'seconds': seconds}
        self.limits = limits
        self.status = self.verdict = self.error = None
        self.connection = http.client.HTTPConnection(
            '127.0.0.1', box.port, timeout=2 * LIMIT * SCALE)
        self.start()

    def run(self):
        try:
            self.connection.request(
                'POST', '/run', json.dumps({'language': self.language,
                                            'code': self.code,
                                            'limits': self.limits}),
                {'Content-Type': 'application/json'})
            response = self.connection.getresponse()
            body = response.read()
            self.status = response.status
            self.verdict = json.loads(body) if body[:1] == b'{' else {}
        except (OSError, http.client.HTTPException) as e:
            self.error = e
        finally:
            self.connection.close()

    def child(self):
        """The run's own process, as the host sees it."""
        for p in processes.all_processes():
            if p.comm == self.name:
                return p
        return None

    def started(self):
        self.process = wait_for('%s runs (%s)' % (self.name, self.language),
                                lambda: self.failed_early() or self.child())
        return self

    def failed_early(self):
        if not self.is_alive() and self.child() is None:
            raise Failure('%s ended before it ran: %s' % (self.name,
                                                         self.outcome()))
        return None

    def outcome(self):
        self.join(2 * LIMIT * SCALE)
        if self.is_alive():
            raise Failure('%s hangs' % self.name)
        if self.error is not None:
            return 'closed'
        return '%d %s' % (self.status, self.verdict.get('status'))

    def expect(self, *wanted):
        got = self.outcome()
        if got not in wanted:
            raise Failure('%s run: %s, wanted %s; error %r; verdict %s' % (
                self.language, got, ' or '.join(wanted), self.error,
                self.verdict))
        if got == '200 success' and self.verdict['output'].strip() != self.name:
            raise Failure('wrong output: %r' % self.verdict['output'])
        return got

    def gone(self):
        """No process of the run is left, soon."""
        wait_for('%s is gone' % self.name,
                 lambda: not processes.alive(self.process), 5)

    def abort(self):
        sock = self.connection.sock
        if sock is not None:
            sock.shutdown(socket.SHUT_RDWR)


class Box:
    def __init__(self, args, scenario):
        self.args = args
        self.port = args.port
        self.prefix = os.path.join(args.root, scenario)
        self.seen = {}
        self.foreground = None
        self.user = args.user if os.geteuid() == 0 else None
        shutil.rmtree(self.prefix, ignore_errors=True)
        for name in ('logs', 'temp'):
            os.makedirs(os.path.join(self.prefix, name))
        for path in (args.root, self.prefix):
            os.chmod(path, 0o755)
        if self.user is not None:
            for name in ('', 'logs', 'temp'):
                os.chown(os.path.join(self.prefix, name), self.user, self.user)

    # the configuration

    def configure(self, daemon=True, master=True, sandbox=SANDBOX, extra='',
                  http='', command=None):
        with open(self.path('nginx.conf'), 'w') as f:
            f.write(extra + CONF % {
                'module': self.args.module, 'prefix': self.prefix,
                'port': self.port, 'sandbox': sandbox, 'http': http,
                'command': command or self.args.command,
                'daemon': 'on' if daemon else 'off',
                'master': 'on' if master else 'off',
                'user': '' if self.user is not None or os.geteuid() != 0
                        else 'user www-data;'})

    def path(self, name):
        return os.path.join(self.prefix, name)

    def nginx(self, *more):
        command = [self.args.nginx, '-p', self.prefix + '/', '-c',
                   self.path('nginx.conf'), *more]
        if self.user is not None:
            command = ['setpriv', '--reuid=%d' % self.user,
                       '--regid=%d' % self.user, '--clear-groups'] + command
        return command

    def environment(self):
        env = dict(os.environ)
        if self.args.preload:
            env['LD_PRELOAD'] = self.args.preload
        return env

    def call(self, *more):
        # captured output: whoever keeps it open makes this wait
        return subprocess.run(self.nginx(*more), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True,
                              env=self.environment(),
                              timeout=2 * LIMIT * SCALE)

    # life

    def start(self, **conf):
        self.configure(**conf)
        if conf.get('daemon', True):
            done = self.call()
            if done.returncode != 0:
                raise Failure('nginx does not start: ' + done.stderr)
        else:
            with open(self.path('logs/out'), 'w') as out:
                self.foreground = subprocess.Popen(
                    self.nginx(), stdin=subprocess.DEVNULL, stdout=out,
                    stderr=out, env=self.environment())
        wait_for('nginx answers', self.answers)
        self.master = self.pid()
        self.note()
        return self

    def answers(self):
        try:
            return self.get('/plain')[0] == 200
        except OSError:
            return False

    def get(self, path):
        c = http.client.HTTPConnection('127.0.0.1', self.port,
                                       timeout=LIMIT * SCALE)
        try:
            c.request('GET', path)
            response = c.getresponse()
            return response.status, response.read().decode()
        finally:
            c.close()

    def pid(self, name='nginx.pid'):
        def number():
            text = processes.read(self.path(name)).strip()
            return int(text) if text else 0
        return wait_for(name, number)

    def signal(self, signo, pid=None):
        self.note()
        os.kill(pid or self.master, signo)

    def kill(self, p):
        """Ends one process that is known to be ours."""
        self.note()
        if p.pid not in self.seen:
            raise Failure('not ours: %r' % (p,))
        try:
            os.kill(p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass                        # a retired zygote ends by itself
        wait_for('pid %d is dead' % p.pid, lambda: not processes.alive(p), 5)

    def run(self, language='python', seconds=0, **limits):
        return Run(self, language, seconds, **limits)

    def check(self, language='python'):
        self.run(language).expect('200 success')

    # what there is

    def note(self, everyone=None):
        """Remembers every process of ours that lives now."""
        everyone = everyone or processes.all_processes()
        for guard in processes.guards(self.prefix, everyone):
            for p in processes.Tree(guard, everyone).all:
                self.seen[p.pid] = p
        for p in everyone:
            if p.comm.startswith('nginx') and any(self.prefix in a
                                                  for a in p.args):
                for q in [p] + [c for c in processes.children(p.pid, everyone)
                                if c.comm.startswith('nginx')]:
                    self.seen[q.pid] = q

    def trees(self):
        everyone = processes.all_processes()
        self.note(everyone)
        return [processes.Tree(g, everyone)
                for g in processes.guards(self.prefix, everyone)]

    def tree(self):
        """The one tree, complete: its supervisor accepts jobs."""
        def one():
            trees = self.trees()
            return len(trees) == 1 and trees[0].supervisor and trees[0]
        return wait_for('one supervisor', one)

    def workers(self, master=None):
        return [p for p in processes.children(master or self.master)
                if p.comm.startswith('nginx')]

    def sockets(self):
        return sorted(name for name in os.listdir(self.prefix)
                      if stat.S_ISSOCK(os.lstat(self.path(name)).st_mode))

    def log(self, name='logs/error.log'):
        return processes.read(self.path(name))

    def metric(self, name):
        text = self.get('/metrics')[1]
        found = re.search(r'^%s (\d+)' % re.escape(name), text, re.M)
        if not found:
            raise Failure('no metric %s' % name)
        return int(found.group(1))

    # the end

    def all_gone(self, seconds=10):
        """No process, no socket; the pid file of a killed master may stay."""
        def nothing():
            return not (self.left() or self.sockets())
        try:
            wait_for('all gone', nothing, seconds)
        except Failure:
            raise Failure('left: %s %s' % (
                [(p.pid, p.comm, p.args[:2]) for p in self.left()],
                self.sockets()))
        finally:
            if self.foreground is not None and self.foreground.poll() is None:
                self.foreground.wait(LIMIT * SCALE)

    def left(self):
        return [p for p in self.seen.values() if processes.alive(p)]

    def quit(self):
        self.signal(signal.SIGQUIT)
        self.all_gone()

    def clean(self):
        """After a failure: ends what this box started, by number."""
        self.note()
        for p in self.left():
            try:
                os.kill(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if self.foreground is not None:
            self.foreground.wait(LIMIT * SCALE)
        if not self.args.keep:
            shutil.rmtree(self.prefix, ignore_errors=True)
