"""An nginx of ours, a keep-alive connection to it, and what it costs the host.

Each has a supervisor of its own, or stands before one that another build
serves.  What is started here is known by its number and ended by it.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../lifecycle'))

import processes
from peers import ENV
from programs import HELLO

CONF = '''\
load_module %(build)s/ngx_http_sandbox_module.so;
daemon off;
worker_processes %(workers)d;
worker_rlimit_nofile 8192;
pid %(dir)s/nginx.pid;
error_log %(dir)s/error.log warn;
%(user)s
events { worker_connections 4096; }
http {
    access_log off;
    keepalive_requests 1000000;
    keepalive_timeout 1h;
    client_max_body_size 16m;
    client_body_buffer_size 4m;
    client_body_temp_path %(dir)s/body;
    proxy_temp_path %(dir)s/proxy;
    fastcgi_temp_path %(dir)s/fastcgi;
    uwsgi_temp_path %(dir)s/uwsgi;
    scgi_temp_path %(dir)s/scgi;
    sandbox_command %(build)s/deer-flow;
    sandbox_memory 256m max=256m;
    sandbox_timeout 30s max=300s;
    sandbox_cpu_time 30s max=300s;
    sandbox_output 2m max=8m;
    %(more)s
    server {
        listen 127.0.0.1:%(port)d;
        location / { return 200 "ok"; }
        location /run { sandbox any; %(run)s }
        location /policy { sandbox any; sandbox_policy %(dir)s/policy.lua; }
        location /metrics { sandbox_metrics; }
    }
}
'''

# All three hooks, with what a façade does in them.
POLICY = '''\
return {
    request = function(req)
        local ask = json.decode(req.body)
        return { language = ask.language, code = ask.code, keep = ask.id }
    end,
    limits = function(job, runtime)
        return { memory = math.min(job.limits.memory, 64 << 20) }
    end,
    response = function(req, verdict)
        return { body = verdict }
    end,
}
'''


def request(language, code, path='/run', **more):
    body = json.dumps(dict(language=language, code=code, **more)).encode()
    return (b'POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json'
            b'\r\nContent-Length: %d\r\n\r\n%s'
            % (path.encode(), len(body), body))


def connect(port, seconds=60):
    sock = socket.create_connection(('127.0.0.1', port), seconds)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def read_answer(sock):
    """The body of one answer."""
    data = b''
    while b'\r\n\r\n' not in data:
        part = sock.recv(1 << 20)
        if not part:
            raise OSError('connection closed')
        data += part
    head, body = data.split(b'\r\n\r\n', 1)
    want = int(head.lower().split(b'content-length:')[1].split(b'\r\n')[0])
    parts, have = [body], len(body)
    while have < want:
        part = sock.recv(1 << 20)
        if not part:
            raise OSError('connection closed')
        parts.append(part)
        have += len(part)
    return b''.join(parts)


def cpu_clock(pid):
    """Seconds of CPU that a process and its reaped children have used."""
    try:
        own = time.clock_gettime(~pid << 3 | 2)
        with open('/proc/%d/stat' % pid) as f:
            fields = f.read().rpartition(')')[2].split()
    except OSError:
        return 0.0
    return own + (int(fields[13]) + int(fields[14])) / os.sysconf('SC_CLK_TCK')


class Server:
    def __init__(self, build, port, more='', socket=None, workers=2):
        self.port = port
        self.dir = tempfile.mkdtemp(prefix='bench-', dir='/tmp')
        os.chmod(self.dir, 0o755)
        conf = os.path.join(self.dir, 'nginx.conf')
        with open(os.path.join(self.dir, 'policy.lua'), 'w') as f:
            f.write(POLICY)
        user = 'user %s;' % ('root' if socket else 'www-data')
        with open(conf, 'w') as f:
            f.write(CONF % {
                'build': build, 'dir': self.dir, 'port': port, 'more': more,
                'workers': workers,
                'user': user if os.geteuid() == 0 else '',
                'run': 'sandbox_pass unix:%s;' % socket if socket else ''})
        self.sock = None
        self.process = subprocess.Popen(
            ['/usr/sbin/nginx', '-p', self.dir, '-c', conf, '-e',
             os.path.join(self.dir, 'error.log')], env=ENV)
        try:
            self.wait_until_up()
        except BaseException:
            self.stop()
            raise

    def wait_until_up(self):
        end, answers = time.monotonic() + 120, []
        while True:
            try:
                self.sock = connect(self.port)
                answers = [self.post(p.language, p.code)
                           for p in HELLO.values()]
                if all(a['output'] == p.output
                       for a, p in zip(answers, HELLO.values())):
                    break
            except (OSError, ValueError):
                pass
            if self.process.poll() is not None or time.monotonic() > end:
                with open(os.path.join(self.dir, 'error.log')) as f:
                    raise SystemExit('no server: %s\n%s'
                                     % (answers, f.read()[-2000:]))
            time.sleep(0.1)
        self.find_processes()

    def find_processes(self):
        self.workers = [p for p in processes.children(self.process.pid)
                        if 'supervise' not in p.args]
        guards = processes.guards(self.dir)
        self.tree = processes.Tree(guards[-1]) if guards else None

    def exchange(self, asked):
        self.sock.sendall(asked)
        return read_answer(self.sock)

    def post(self, language, code, **more):
        return json.loads(self.exchange(request(language, code, **more)))

    def ready(self, program, **more):
        """A function that runs the program once; its own time, if it has."""
        if program.stdin is not None:
            more['stdin'] = program.stdin
        asked = request(program.language, program.code, **more)
        output = json.dumps(program.output)
        wanted = ('"status":"success","output":' + (
            '"' if program.own else output + ',')).encode()

        def run():
            body = self.exchange(asked)
            if wanted not in body:
                raise SystemExit('wrong answer: %.300r' % body)
            if program.own:
                return int(json.loads(body)['output']) / 1e6
            return None

        return run

    def cpu_s(self):
        """Of workers, supervisor, zygotes, slots, and children reaped."""
        self.find_processes()
        return sum(cpu_clock(p.pid) for p in [
            *self.workers, *(self.tree.all if self.tree else [])])

    def settle(self):
        """Until it does nothing: zygotes proven, standby children ready."""
        end, before = time.monotonic() + 60, self.cpu_s()
        while time.monotonic() < end:
            time.sleep(0.25)
            now = self.cpu_s()
            if now - before < 0.01:
                return
            before = now

    def standby(self, language):
        """The language's children: those that wait for a job, and others."""
        name = {'python': 'python3', 'node': 'node'}[language]
        self.find_processes()
        return [p for p in self.tree.children if p.comm == name]

    def stop(self):
        if self.sock is not None:
            self.sock.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)
        shutil.rmtree(self.dir, ignore_errors=True)
