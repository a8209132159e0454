"""An nginx of a case: its configuration, its life, and requests to it.

Every wait has an end.  What this started is known by its number; after stop()
nothing of it may be left.
"""

import concurrent.futures
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../lifecycle'))

import processes

CONF = '''
load_module %(build)s/ngx_http_sandbox_module.so;
%(user)s
worker_processes 2;
pid %(prefix)s/nginx.pid;
error_log %(prefix)s/logs/error.log notice;
daemon off;
events { worker_connections 1024; }
http {
    log_format pid "$pid $status $sandbox_status";
    access_log %(prefix)s/logs/access.log pid;
    client_body_temp_path %(prefix)s/temp/body;
    proxy_temp_path %(prefix)s/temp/proxy;
    fastcgi_temp_path %(prefix)s/temp/fastcgi;
    uwsgi_temp_path %(prefix)s/temp/uwsgi;
    scgi_temp_path %(prefix)s/temp/scgi;
    sandbox_command %(build)s/deer-flow;
    %(http)s
    server {
        listen 127.0.0.1:%(port)d;
        client_max_body_size 16m;
        keepalive_requests 10000;
        location = /plain { return 200 "plain\\n"; }
        location = /metrics { sandbox_metrics; }
        location = /run {
            sandbox any;
            sandbox_timeout 5s max=30s;
            sandbox_output 1m max=8m;
            sandbox_processes 1 max=64;
            %(location)s
        }
    }
}
'''

# Four slots, and a queue for whoever these tests send.
PLENTY = 'sandbox_slots 4; sandbox_queue 300 timeout=120s;'

LIMIT = 20      # seconds that any step may take
SCALE = float(os.environ.get('HTTP_SCALE', '1'))        # slow machines

# A process that can be seen from outside by its name.
NAMED = ('import ctypes, time\n'
         'ctypes.CDLL(None).prctl(15, b"%s", 0, 0, 0)\n'
         'time.sleep(%g)\n'
         'print("slept")\n')


class Failure(Exception):
    pass


def same(what, wanted, got):
    if wanted != got:
        raise Failure('%s: wanted %.300r, got %.300r' % (what, wanted, got))


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


def named(name):
    """How many processes of this machine have the name."""
    return sum(p.comm == name for p in processes.all_processes())


def parallel(n, function, arguments):
    """The function's results, n of them at work at a time."""
    with concurrent.futures.ThreadPoolExecutor(n) as pool:
        return list(pool.map(function, arguments))


class Answer:
    def __init__(self, response):
        self.code = response.status
        self.headers = response.headers
        self.body = response.read()
        self.seconds = 0.0
        self.verdict = {}
        if self.headers.get('Content-Type') == 'application/json':
            self.verdict = json.loads(self.body)

    def said(self):
        return '%d %s' % (self.code, self.verdict.get('status'))

    def expect(self, output=None, said='200 success'):
        if self.said() != said:
            raise Failure('%s, wanted %s: %.500r' % (self.said(), said,
                                                     self.body))
        if output is not None:
            same('output', output, self.verdict['output'])
        return self.verdict


def body_of(code, language='python', **more):
    return json.dumps(dict(more, code=code, language=language)).encode()


class Client:
    """One connection, kept alive."""

    def __init__(self, port, seconds=6 * LIMIT):
        self.http = http.client.HTTPConnection('127.0.0.1', port,
                                               timeout=seconds * SCALE)

    def send(self, method, path, body=None):
        start = time.monotonic()
        self.http.request(method, path, body,
                          {'Content-Type': 'application/json'} if body else {})
        answer = Answer(self.http.getresponse())
        answer.seconds = time.monotonic() - start
        return answer

    def run(self, code, language='python', **more):
        return self.send('POST', '/run', body_of(code, language, **more))

    def close(self):
        self.http.close()


class Site:
    def __init__(self, args, name):
        self.args, self.port = args, args.port
        self.prefix = os.path.join(args.root, name)
        self.master = None
        self.seen = {}
        shutil.rmtree(self.prefix, ignore_errors=True)
        for directory in ('logs', 'temp'):
            os.makedirs(os.path.join(self.prefix, directory))
        os.chmod(self.prefix, 0o755)

    def path(self, name):
        return os.path.join(self.prefix, name)

    def log(self, name='error.log'):
        return processes.read(self.path('logs/' + name))

    # life

    def start(self, http=PLENTY, location=''):
        with open(self.path('nginx.conf'), 'w') as f:
            f.write(CONF % {
                'build': self.args.build, 'prefix': self.prefix,
                'port': self.port, 'http': http, 'location': location,
                'user': 'user www-data;' if os.geteuid() == 0 else ''})
        with open(self.path('logs/out'), 'w') as out:
            self.master = subprocess.Popen(
                [self.args.nginx, '-p', self.prefix + '/', '-c',
                 self.path('nginx.conf')], stdin=subprocess.DEVNULL,
                stdout=out, stderr=out)
        wait_for('nginx answers', self.answers)
        # while the supervisor starts, a short queue may be too short
        wait_for('a run', lambda: self.run('print(1)').said() == '200 success')
        # another language's would be in the only slot, or queued for it
        if 'sandbox_slots 1;' in http:
            wait_for('the self-tests', lambda: self.metric('sandbox_up') == 1)
        return self

    def answers(self):
        if self.master.poll() is not None:
            raise Failure('nginx does not start: ' + self.log('out'))
        try:
            return self.get('/plain').code == 200
        except OSError:
            return False

    def note(self):
        """Remembers every process of ours that lives now."""
        everyone = processes.all_processes()
        for guard in processes.guards(self.prefix, everyone):
            for p in processes.Tree(guard, everyone).all:
                self.seen[p.pid] = p
        for p in processes.descendants(self.master.pid, everyone):
            self.seen[p.pid] = p

    def left(self):
        return [p for p in self.seen.values() if processes.alive(p)]

    def stop(self):
        if self.master is None:
            return
        if self.master.poll() is not None:
            raise Failure('nginx has ended: %d' % self.master.returncode)
        self.note()
        self.master.send_signal(signal.SIGQUIT)
        try:
            self.master.wait(LIMIT * SCALE)
        except subprocess.TimeoutExpired:
            raise Failure('nginx does not quit')
        wait_for('all gone', lambda: not self.left(), 10)

    def clean(self):
        """After a failure: ends what this site started, by number."""
        if self.master is not None:
            if self.master.poll() is None:
                self.note()
                self.master.kill()
                self.master.wait(LIMIT * SCALE)
            for p in self.left():
                try:
                    os.kill(p.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        if not self.args.keep:
            shutil.rmtree(self.prefix, ignore_errors=True)

    # what there is

    def tree(self):
        def one():
            trees = [processes.Tree(g) for g in processes.guards(self.prefix)]
            return len(trees) == 1 and trees[0].supervisor and trees[0]
        return wait_for('one supervisor', one)

    def workers(self):
        return processes.children(self.master.pid)

    def metric(self, name):
        found = re.search(rb'^%s (\d+)' % re.escape(name).encode(),
                          self.get('/metrics').body, re.M)
        if not found:
            raise Failure('no metric %s' % name)
        return int(found.group(1))

    def runs(self, status, language='python'):
        """Counted so far; a language is listed from its first run on."""
        name = 'sandbox_runs_total{language="%s",status="%s"}'
        try:
            return self.metric(name % (language, status))
        except Failure:
            return 0

    # requests

    def client(self):
        return Client(self.port)

    def get(self, path):
        client = self.client()
        try:
            return client.send('GET', path)
        finally:
            client.close()

    def run(self, code, language='python', **more):
        client = self.client()
        try:
            return client.run(code, language, **more)
        finally:
            client.close()

    def socket(self):
        return socket.create_connection(('127.0.0.1', self.port),
                                        LIMIT * SCALE)

    def head(self, length, more=''):
        return ('POST /run HTTP/1.1\r\nHost: x\r\nContent-Type: '
                'application/json\r\nContent-Length: %d\r\n%s\r\n'
                % (length, more)).encode()
