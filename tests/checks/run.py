#!/usr/bin/python3
"""The seven checks of deer-flow check: all pass, and each of them can fail.

    run.py --build DIR --faulty DIR [--nginx NGINX] [--port N] [FAULT...]

DIR of --faulty is a build with -DSBX_FAULTS: there SBX_FAULT breaks one layer,
which must turn the line of its own check to FAILED and no other, and make the
locations answer 503 with the reason, but for one that allows it by name.

Prints TAP; exit code 1 if something failed.
"""

import argparse
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CHECKS = ['check_limit', 'check_preload', 'check_proc_limits', 'check_growth',
          'check_signal', 'check_oom', 'check_deadline']
RUNTIMES = ['python', 'node']

# Faults, the check that must see each, and what its evidence has to say.
FAULTS = {
    'check_limit': (1, 'while it runs, intended: '),
    'check_preload': (2, 'libsbx_preload.so is not mapped'),
    'check_proc_limits': (3, 'is unlimited before the job is handed over'),
    'check_growth': (4, 'kB in step 3'),
    'check_signal': (5, 'saw 0 SIGUSR1'),
    'check_oom': (6, '1 OOM kills by the cgroup\'s counter'),
    'check_deadline': (7, 'still runs 1000 ms after its deadline'),
    'check_pool': (7, 'is outside the pool'),
}

# What needs another check's layer is not asked without it.
SKIPPED = {'check_preload': [5]}

# Faults of the supervisor alone, so that the next check finds them mended.
MENDED = ['check_limit', 'check_signal']

PROGRAMS = {'python': 'print(6 * 7)', 'node': 'console.log(6 * 7)'}

CONF = '''
load_module %(build)s/ngx_http_sandbox_module.so;
%(user)s
worker_processes 1;
pid %(prefix)s/nginx.pid;
error_log %(prefix)s/error.log notice;
daemon off;
events { worker_connections 64; }
http {
    access_log off;
    client_body_temp_path %(prefix)s/body;
    proxy_temp_path %(prefix)s/proxy;
    fastcgi_temp_path %(prefix)s/fastcgi;
    uwsgi_temp_path %(prefix)s/uwsgi;
    scgi_temp_path %(prefix)s/scgi;
    sandbox_command %(build)s/deer-flow;
    sandbox_pass unix:%(prefix)s/supervisor;
    server {
        listen 127.0.0.1:%(port)d;
        location = /plain { return 204; }
        location = /strict { sandbox any; }
        location = /allowed { sandbox any; sandbox_allow_missing %(allowed)s; }
        location = /other { sandbox any; sandbox_allow_missing %(others)s; }
    }
}
'''

LIMIT = 60      # seconds that any step may take

count = failed = 0


def ok(right, what, *details):
    global count, failed
    count += 1
    failed += not right
    print('%sok %d - %s' % ('' if right else 'not ', count, what), flush=True)
    if not right:
        for line in '\n'.join(str(d) for d in details).splitlines()[-40:]:
            print('# ' + line)
    return right


def environment(fault, until=None):
    env = {'PATH': '/usr/bin:/bin:/usr/sbin:/sbin', 'HOME': '/tmp',
           'LANG': 'C.UTF-8'}
    if fault:
        env['SBX_FAULT'] = fault
    if until:
        env['SBX_FAULT_UNTIL'] = until
    return env


def check(build, *options, fault=None, user=None):
    return subprocess.run([os.path.join(build, 'deer-flow'), 'check']
                          + list(options), env=environment(fault), user=user,
                          group=user, extra_groups=[] if user else None,
                          cwd='/', stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=LIMIT)


def states(done):
    """[state, …] of each runtime, in the order of the numbers."""
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return {}
    for runtime, list_ in answer['checks'].items():
        if [(c['number'], c['name']) for c in list_] != [
                (i + 1, name) for i, name in enumerate(CHECKS)]:
            return {}
    return {runtime: [c['state'] for c in list_]
            for runtime, list_ in answer['checks'].items()}


def test_all_ok(build, who, user=None):
    done = check(build, user=user)
    lines = [line.split(None, 4) for line in done.stdout.splitlines()
             if line.startswith('check ')]
    for runtime in RUNTIMES:
        mine = [words[2:4] for words in lines if words[1] == runtime]
        ok(mine == [['OK', str(i + 1)] for i in range(7)],
           '%s: seven OK lines of %s' % (who, runtime), done.stdout,
           done.stderr)
    ok(done.returncode == 0, '%s: exit code 0' % who, done.returncode,
       done.stdout, done.stderr)

    done = check(build, '--json', user=user)
    ok(states(done) == {r: ['OK'] * 7 for r in RUNTIMES}
       and json.loads(done.stdout)['ok'] is True,
       '%s: the same as JSON' % who, done.stdout, done.stderr)


def test_fault(faulty, fault):
    number, says = FAULTS[fault]
    wanted = ['OK'] * 7
    wanted[number - 1] = 'FAILED'
    for i in SKIPPED.get(fault, []):
        wanted[i - 1] = 'skipped'

    done = check(faulty, '--json', fault=fault)
    if not ok(states(done) == {r: wanted for r in RUNTIMES},
              '%s: line %d fails, and no other' % (fault, number),
              done.stdout, done.stderr):
        return
    answer = json.loads(done.stdout)
    ok(all(says in answer['checks'][r][number - 1]['evidence']
           for r in RUNTIMES), '%s: the evidence says why' % fault,
       done.stdout)
    ok(done.returncode == 1 and answer['ok'] is False,
       '%s: exit code 1' % fault, done.returncode)


class Site:
    """A supervisor with a fault, and an nginx that sends it jobs."""

    def __init__(self, args, fault):
        self.args, self.fault = args, fault
        self.prefix = tempfile.mkdtemp(prefix='deer-flow-checks.')
        self.started = []

    def start(self):
        name = CHECKS[FAULTS[self.fault][0] - 1]
        conf = os.path.join(self.prefix, 'nginx.conf')
        with open(conf, 'w') as f:
            f.write(CONF % {
                'build': self.args.build, 'prefix': self.prefix,
                'port': self.args.port, 'allowed': name,
                'others': ' '.join(c for c in CHECKS if c != name),
                'user': 'user root;' if os.geteuid() == 0 else ''})
        self.spawn('supervisor.log', os.path.join(self.args.faulty,
                                                  'deer-flow'), 'serve',
                   '--listen', 'unix:%s/supervisor' % self.prefix)
        self.spawn('nginx.log', self.args.nginx, '-p', self.prefix, '-c', conf)
        self.wait_for(lambda: os.path.exists(self.prefix + '/supervisor'))
        self.wait_for(lambda: self.ask('GET', '/plain')[0] == 204)

    def spawn(self, log, *command):
        with open(os.path.join(self.prefix, log), 'w') as out:
            self.started.append(subprocess.Popen(
                command, env=environment(self.fault, self.prefix + '/mended'),
                cwd='/', stdout=out, stdin=subprocess.DEVNULL, stderr=out))

    def wait_for(self, condition):
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            try:
                if condition():
                    return
            except OSError:
                pass
            if any(p.poll() is not None for p in self.started):
                break
            time.sleep(0.02)
        raise RuntimeError('not started: ' + self.logs())

    def logs(self):
        text = ''
        for name in ('supervisor.log', 'nginx.log', 'error.log'):
            path = os.path.join(self.prefix, name)
            if os.path.exists(path):
                with open(path) as f:
                    text += f.read()
        return text

    def ask(self, method, path, body=None):
        client = http.client.HTTPConnection('127.0.0.1', self.args.port,
                                            timeout=LIMIT)
        try:
            client.request(method, path, body,
                           {'Content-Type': 'application/json'})
            answer = client.getresponse()
            return answer.status, answer.read()
        finally:
            client.close()

    def run(self, path, language):
        code, body = self.ask('POST', path, json.dumps(
            {'language': language, 'code': PROGRAMS[language]}))
        return code, json.loads(body)

    def stop(self):
        for p in reversed(self.started):
            p.send_signal(signal.SIGTERM)
        for p in self.started:
            try:
                p.wait(LIMIT)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
        shutil.rmtree(self.prefix, ignore_errors=True)


def test_version(faulty):
    """A library that was built for another Python: said once, and each run
    starts the interpreter."""
    done = check(faulty, '--json', fault='python_version')
    ok(states(done) == {r: ['OK'] * 7 for r in RUNTIMES}
       and done.stderr.count('libsbx_python.so was built for Python') == 1,
       'another Python than the zygote was built for', done.stdout,
       done.stderr)
    ok([r['zygote'] for r in json.loads(done.stdout)['runtimes'].values()]
       == [False, True], 'its zygote alone is not used', done.stdout)


def test_untested(faulty):
    """A self-test that failed refuses runs, whatever the zygote can do."""
    for language, program in PROGRAMS.items():
        with tempfile.NamedTemporaryFile('w') as f:
            f.write(program)
            f.flush()
            done = subprocess.run(
                [os.path.join(faulty, 'deer-flow'), 'run', '--zygote',
                 '--json', '--language', language, f.name],
                env=environment('probe'), stdin=subprocess.DEVNULL,
                capture_output=True, text=True, timeout=LIMIT)
        ok('"internal_error"' in done.stdout
           and 'the self-test of %s failed' % language in done.stdout,
           'no run of %s without its self-test' % language, done.stdout,
           done.stderr)


def test_locations(args, fault):
    number, says = FAULTS[fault]
    site = Site(args, fault)
    try:
        site.start()
        for runtime in RUNTIMES:
            reason = 'check %d of %s (%s) failed: ' % (number, runtime,
                                                       CHECKS[number - 1])
            for path in ('/strict', '/other'):
                code, verdict = site.run(path, runtime)
                ok(code == 503 and verdict['status'] == 'internal_error'
                   and verdict['reason'] == 'unprotected'
                   and verdict['error'].startswith(reason)
                   and says in verdict['error'],
                   '%s: %s of %s answers 503, and why' % (fault, path,
                                                          runtime),
                   code, verdict, site.logs())
            code, verdict = site.run('/allowed', runtime)
            ok(code == 200 and verdict['output'] == '42\n',
               '%s: %s runs where it is allowed by name' % (fault, runtime),
               code, verdict, site.logs())
        if fault in MENDED:
            test_mended(site, fault)
    finally:
        site.stop()


def test_mended(site, fault):
    """A failed check is repeated; once it passes, runs go on."""
    open(site.prefix + '/mended', 'w').close()
    for runtime in RUNTIMES:
        site.wait_for(lambda: site.run('/strict', runtime)[0] == 200)
        ok(True, '%s: %s runs again when it is mended' % (fault, runtime))


def has_memory_cgroup(build):
    return json.loads(check(build, '--json').stdout)['layers'][
        'cgroup'] == 'ok'


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--build', required=True)
    p.add_argument('--faulty', required=True)
    p.add_argument('--nginx', default=shutil.which('nginx')
                   or '/usr/sbin/nginx')
    p.add_argument('--port', type=int, default=19510)
    p.add_argument('fault', nargs='*')
    args = p.parse_args()
    args.build = os.path.abspath(args.build)
    args.faulty = os.path.abspath(args.faulty)
    unknown = set(args.fault) - set(FAULTS)
    if unknown:
        p.error('no such fault: %s; there are: %s' % (' '.join(unknown),
                                                      ' '.join(FAULTS)))

    if not args.fault:
        test_all_ok(args.build, 'as root' if os.geteuid() == 0 else 'as user')
        if os.geteuid() == 0:
            # a normal user cannot look into most people's build tree
            with tempfile.TemporaryDirectory() as directory:
                os.chmod(directory, 0o755)
                for name in ('deer-flow', 'libsbx_python.so',
                             'libsbx_preload.so'):
                    shutil.copy(os.path.join(args.build, name), directory)
                test_all_ok(directory, 'as a normal user', 65534)

        test_version(args.faulty)
        test_untested(args.faulty)

    oom = has_memory_cgroup(args.build)

    for fault in args.fault or FAULTS:
        if fault == 'check_oom' and not oom:
            print('# skip check_oom: there is no cgroup to make one')
            continue
        test_fault(args.faulty, fault)
        test_locations(args, fault)

    print('1..%d' % count)
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
