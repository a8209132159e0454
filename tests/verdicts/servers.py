"""What answers the programs: supervisors with layers on and off, and one nginx.

Everything started here is known by its number and ended by it.  The normal user
of a test that root starts is nobody, so all of it is in /tmp.
"""

import ctypes
import http.client
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
NOBODY = 65534
CLONE_NEWNS, MS_REC, MS_PRIVATE, MNT_DETACH = 0x20000, 0x4000, 1 << 18, 2
SECONDS = 60    # that any step may take

CONF = '''
load_module %(build)s/ngx_http_sandbox_module.so;
%(user)s
worker_processes 2;
pid %(top)s/nginx.pid;
error_log %(top)s/logs/error.log notice;
daemon off;
events { worker_connections 1024; }
http {
    access_log off;
    client_body_temp_path %(top)s/temp/body;
    proxy_temp_path %(top)s/temp/proxy;
    fastcgi_temp_path %(top)s/temp/fastcgi;
    uwsgi_temp_path %(top)s/temp/uwsgi;
    scgi_temp_path %(top)s/temp/scgi;
    sandbox_command %(build)s/deer-flow;
    %(allow)s
    sandbox_runtime static %(native)s/eat;
    sandbox_memory 128m max=2g;
    sandbox_timeout 60s max=120s;
    sandbox_cpu_time 60s max=120s;
    sandbox_output 1m max=8m;
    sandbox_disk 16m max=256m;
    sandbox_processes 1 max=64;
    sandbox_threads 64 max=128;
    sandbox_open_files 256 max=2048;
    sandbox_stack 8m max=64m;
    server {
        listen 127.0.0.1:%(port)d;
        client_max_body_size 16m;
        client_body_buffer_size 4m;
        keepalive_requests 1000000;
        location = /plain { return 200 "plain\\n"; }
        location = /hard { sandbox any; %(pass)s }
        location = /soft { sandbox any; sandbox_memory_mode soft; %(pass)s }
    }
}
'''


# The self-tests that notice what is off, and would refuse every run.
NOTICED_BY = {
    'hook': ('check_preload', 'check_signal', 'check_growth'),
    'rlimits': ('check_limit', 'check_proc_limits', 'check_growth'),
}


class Failure(Exception):
    pass


def wait_for(what, condition):
    end = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > end:
            raise Failure('not within %d s: %s' % (SECONDS, what))
        time.sleep(0.05)


def end_process(process):
    if process is None or process.poll() is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Client:
    """One connection, kept alive; `busy` is asked again, never an answer."""

    def __init__(self, port):
        self.http = http.client.HTTPConnection('127.0.0.1', port, timeout=180)
        self.busy = 0

    def ask(self, program):
        path = '/soft' if program.soft else '/hard'
        end = time.monotonic() + 4 * SECONDS
        while True:
            self.http.request('POST', path, program.body(),
                              {'Content-Type': 'application/json'})
            answer = self.http.getresponse()
            body = answer.read()
            try:
                verdict = json.loads(body)
            except ValueError:
                verdict = {'status': 'http %d' % answer.status}
            if verdict['status'] != 'busy' or time.monotonic() > end:
                return verdict
            self.busy += 1
            time.sleep(0.1)

    def close(self):
        self.http.close()


class Nginx:
    """With a supervisor of its own, or before the one at `socket`."""

    def __init__(self, args, top, socket=None, off=()):
        self.top, self.port = top, args.port
        allowed = {check for layer in off for check in NOTICED_BY.get(layer, ())}
        for name in ('logs', 'temp'):
            os.makedirs(os.path.join(top, name), exist_ok=True)
        root = os.geteuid() == 0
        conf = os.path.join(top, 'nginx.conf')
        with open(conf, 'w') as f:
            f.write(CONF % {
                'build': args.build, 'top': top, 'port': args.port,
                'native': args.native,
                'allow': 'sandbox_allow_missing %s;' % ' '.join(sorted(allowed))
                         if allowed else '',
                # the socket of a normal user's supervisor is that user's
                'user': 'user %s;' % ('root' if socket else 'www-data')
                        if root else '',
                'pass': 'sandbox_pass unix:%s;' % socket if socket else ''})
        with open(os.path.join(top, 'logs/out'), 'w') as out:
            self.process = subprocess.Popen(
                [args.nginx, '-p', top + '/', '-c', conf],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        try:
            wait_for('nginx answers', self.answers)
        except BaseException:
            self.stop()
            raise

    def answers(self):
        if self.process.poll() is not None:
            with open(os.path.join(self.top, 'logs/out')) as f:
                raise Failure('nginx does not start: ' + f.read())
        client = http.client.HTTPConnection('127.0.0.1', self.port, timeout=5)
        try:
            client.request('GET', '/plain')
            return client.getresponse().status == 200
        except OSError:
            return False
        finally:
            client.close()

    def client(self):
        return Client(self.port)

    def stop(self):
        end_process(self.process)


def leave_cgroups():
    """In the child: a host without cgroups."""
    libc = ctypes.CDLL(None, use_errno=True)
    if (libc.unshare(CLONE_NEWNS) < 0
            or libc.mount(None, b'/', None, MS_REC | MS_PRIVATE, None) < 0
            or libc.umount2(b'/sys/fs/cgroup', MNT_DETACH) < 0):
        os._exit(99)


class Delegated:
    """cgroups of the normal user's own, as an administrator would make them."""

    def __init__(self):
        self.made = []
        with open('/proc/self/cgroup') as f:
            lines = [line.rstrip('\n').split(':', 2) for line in f]
        for _, controllers, path in lines:
            top = '/sys/fs/cgroup/%s' % controllers
            wanted = {'memory', 'pids', 'cpuacct'} & set(controllers.split(','))
            if not wanted or not os.path.isdir(top):
                continue
            place = top + path if os.path.isdir(top + path) else top
            place = os.path.join(place, 'verdicts-%d' % os.getpid())
            os.mkdir(place)
            self.made.append(place)
            for name in [place] + [os.path.join(place, n)
                                   for n in ('cgroup.procs', 'tasks')]:
                os.chown(name, NOBODY, NOBODY)

    def enter(self):
        for place in self.made:
            with open(os.path.join(place, 'cgroup.procs'), 'w') as f:
                f.write('0')

    def remove(self):
        for place in reversed(self.made):
            for name, _, _ in os.walk(place, topdown=False):
                try:
                    os.rmdir(name)
                except OSError:
                    pass


class Supervisor:
    """`deer-flow serve` with the layers `off` off, behind an nginx."""

    def __init__(self, args, off):
        self.process = self.nginx = self.delegated = None
        self.top = tempfile.mkdtemp(prefix='verdicts.', dir='/tmp')
        os.chmod(self.top, 0o755)
        try:
            self.start(args, off)
        except BaseException:
            self.stop()
            raise

    def start(self, args, off):
        user = 'root' in off and os.geteuid() == 0
        place = os.path.join(self.top, 'super')
        command = copy_build(args, self.top, 'hook' not in off)
        os.mkdir(place)
        if user:
            os.chown(place, NOBODY, NOBODY)
            if 'cgroup' not in off:
                self.delegated = Delegated()
        socket = os.path.join(place, 'socket')
        env = {'PATH': '/usr/bin:/bin', 'LANG': 'C.UTF-8'}
        if 'rlimits' in off:
            env['SBX_FAULT'] = 'address_limit'

        def enter():
            if self.delegated:
                self.delegated.enter()
            if 'cgroup' in off and os.geteuid() == 0:
                leave_cgroups()
            if user:
                os.setgroups([])
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)

        config = {'slots': args.jobs + 1, 'log_level': 5, 'runtimes': [
            {'name': 'static', 'command': [os.path.join(args.native, 'eat')]}]}
        with open(os.path.join(self.top, 'log'), 'w') as log:
            self.process = subprocess.Popen(
                [command, 'serve', '--listen', 'unix:' + socket, '--config',
                 json.dumps(config)], env=env, preexec_fn=enter,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_for('a supervisor', lambda: os.path.exists(socket)
                 or self.process.poll() is not None)
        if self.process.poll() is not None:
            raise Failure('no supervisor: ' + self.log())
        self.nginx = Nginx(args, self.top, socket, off)

    def log(self):
        with open(os.path.join(self.top, 'log')) as f:
            return f.read()

    def missing(self):
        """The layers that it says it does without."""
        for line in self.log().splitlines():
            if 'without these layers' in line:
                return line.partition('protection:')[2].split('(')[0].split()
        return []

    def client(self):
        return self.nginx.client()

    def stop(self):
        if self.nginx is not None:
            self.nginx.stop()
        end_process(self.process)
        if self.delegated:
            self.delegated.remove()
        shutil.rmtree(self.top, ignore_errors=True)


def copy_build(args, top, with_hook):
    """Without the hook: a library of its name that does nothing."""
    hook = os.path.join(top, 'libsbx_preload.so')
    shutil.copy(os.path.join(args.faulty, 'deer-flow'), top)
    shutil.copy(os.path.join(args.build, 'libsbx_python.so'), top)
    if with_hook:
        shutil.copy(os.path.join(args.build, 'libsbx_preload.so'), hook)
    else:
        subprocess.run([args.cc, '-shared', '-x', 'c', '/dev/null', '-o',
                        hook], check=True)
    return os.path.join(top, 'deer-flow')


def compile_natives(args):
    source = os.path.join(HERE, 'native')
    for name in sorted(os.listdir(source)):
        subprocess.run([args.cc, '-static', '-Os', '-s', '-Wall', '-Werror',
                        '-o', os.path.join(args.native, name[:-2]),
                        os.path.join(source, name)], check=True)
