"""The cases, one function each; the first line of its text is its name, and
what it returns is printed beside it.
"""

import http.client
import json
import os
import re
import shutil
import statistics
import subprocess
import threading
import time

from nginx import (LIMIT, NAMED, SCALE, Answer, Failure, body_of, named,
                   parallel, processes, same, wait_for)

CASES = {}
MARK = 'mark%d-' % (os.getpid() % 10000)


def case(function):
    CASES[function.__name__] = function
    return function


# load

def program(i):
    """A program of its own, and what it prints."""
    if i % 8 == 0:
        return ('console.log(%d * 7, require("fs").readFileSync(0, "utf8"))'
                % i, 'node', '%d input %d\n' % (i * 7, i))
    if i % 8 == 1:
        return ('import sys\nsys.stderr.write("e%d")\nprint("x" * %d)'
                % (i, 3 * i), 'python', 'x' * 3 * i + '\n')
    return ('print(%d * 7, input())' % i, 'python',
            '%d input %d\n' % (i * 7, i))


@case
def checked(site):
    """requests 50 at a time: each has its own program's output"""
    site.start()
    mine = threading.local()

    def one(i):
        if not hasattr(mine, 'client'):
            mine.client = site.client()
        code, language, wanted = program(i)
        mine.client.run(code, language, stdin='input %d' % i).expect(wanted)

    start = time.monotonic()
    parallel(50, one, range(site.args.requests))
    seconds = time.monotonic() - start
    pids = {line.split()[0] for line in site.log('access.log').splitlines()}
    same('workers that served', 2, len(pids))
    return '%d right bodies, %.0f a second' % (site.args.requests,
                                               site.args.requests / seconds)


@case
def ab(site):
    """ab -n 1000 -c 50: none failed, none but 2xx, all of one length"""
    if shutil.which('ab') is None:
        return 'left out: no ab here'
    site.start()
    with open(site.path('body.json'), 'wb') as f:
        f.write(body_of('print(1+1)\n'))
    done = subprocess.run(
        ['ab', '-q', '-n', str(site.args.requests), '-c', '50', '-p',
         site.path('body.json'), '-T', 'application/json',
         'http://127.0.0.1:%d/run' % site.port],
        capture_output=True, text=True, timeout=10 * LIMIT * SCALE)
    figures = dict(re.findall(r'^([\w -]+?): +([\d.]+)', done.stdout, re.M))
    same('complete', str(site.args.requests),
         figures.get('Complete requests', done.stdout + done.stderr))
    if figures['Failed requests'] != '0' or 'Non-2xx responses' in figures:
        raise Failure(done.stdout)
    return '%s a second' % figures['Requests per second']


@case
def burst(site):
    """300 requests at a time, a slot for each: more than one zygote is asked
    for at once"""
    count = 300
    site.start('sandbox_slots %d; sandbox_standby 0; sandbox_timeout 60s;'
               % count)
    clients = [http.client.HTTPConnection('127.0.0.1', site.port,
                                          timeout=LIMIT * SCALE)
               for _ in range(count)]
    for i, client in enumerate(clients):
        client.request('POST', '/run',
                       body_of('import time\ntime.sleep(1)\nprint(%d)\n' % i),
                       {'Content-Type': 'application/json'})
    for i, client in enumerate(clients):
        verdict = json.loads(client.getresponse().read())
        same('output of %d' % i, '%d\n' % i, verdict.get('output'))
        client.close()


@case
def host_limit(site):
    """a limit that the host cannot give is refused by its name"""
    program = site.prefix + '/program.py'
    with open(program, 'w') as f:
        f.write('print(1)')

    def run(files):
        done = subprocess.run(
            ['prlimit', '--nofile=1000:1000', site.args.build + '/deer-flow',
             'run', '--json', '--open-files', str(files), program],
            stdin=subprocess.DEVNULL, capture_output=True, text=True)
        verdict = json.loads(done.stdout)
        return verdict['status'], verdict['error']

    same('as many as there are', ('success', None), run(1000))
    end = run(1001)
    if end != ('success', None):        # who may, raises the host's limit
        same('one more', ('invalid', '"open_files" of 1001 is more than this '
             'host allows: 1000 (RLIMIT_NOFILE of nginx or of the '
             'supervisor)'), end)


@case
def polite_beside_a_fork_bomb(site):
    """one program forks without end, hellos of others stay right"""
    bomb = 'import os\nwhile True:\n    try: os.fork()\n    except OSError: 0\n'
    site.start('sandbox_slots 4; sandbox_queue 50;')
    client = site.client()

    def hellos():
        seconds = []
        for i in range(30):
            answer = client.run('print("hello", %d)' % i)
            answer.expect('hello %d\n' % i)
            seconds.append(answer.seconds)
        return statistics.median(seconds)

    hellos()
    alone = hellos()
    answers = []
    thread = threading.Thread(target=lambda: answers.append(site.run(
        bomb, limits={'processes': 64, 'timeout': '30s', 'cpu_time': '30s'})))
    thread.start()

    def bombed():
        tree = site.tree()
        return len(tree.children) > 40

    try:
        wait_for('the bomb is at work', bombed)
        beside = hellos()
        if not thread.is_alive():
            raise Failure('the bomb ended before the hellos')
    finally:
        thread.join(60 * SCALE)
    same('the bomb', True, answers[0].verdict['status']
         in ('timeout', 'process_exceeded'))
    ratio = beside / alone
    if ratio > 40:
        raise Failure('median %.1f ms alone, %.1f ms beside the bomb' % (
            alone * 1000, beside * 1000))
    return 'median %.1f ms alone, %.1f ms beside it: %.1f times; the bomb: %s' \
        % (alone * 1000, beside * 1000, ratio, answers[0].verdict['status'])


# time

BUSY = {
    'python': (['/usr/bin/python3', '-c'],
               'x = 0\nfor i in range(1600000): x = (x * 31 + i) % 65521\n'),
    'node': (['/usr/bin/node', '-e'],
             'let x = 0;\n'
             'for (let i = 0; i < 25e6; i++) x = (x * 31 + i) % 65521;\n'),
}
LOOP = ('import ctypes\n'
        'ctypes.CDLL(None).prctl(15, b"%s", 0, 0, 0)\n'
        'while True: pass\n')
CPUS = len(os.sched_getaffinity(0))


def plain_cpu_ms(argv):
    """What the kernel bills for the same program outside."""
    pid = os.posix_spawn(argv[0], argv, {'PATH': '/usr/bin:/bin'})
    _, status, used = os.wait4(pid, 0)
    same('%s outside' % argv[0], 0, status)
    return (used.ru_utime + used.ru_stime) * 1000


class Load:
    """A loop that never ends in each other slot, one for each CPU."""

    def __init__(self, site, name):
        self.name, body = name, body_of(
            LOOP % name, limits={'timeout': '30s'})
        self.sockets = [site.socket() for _ in range(CPUS)]
        for sock in self.sockets:
            sock.sendall(site.head(len(body)) + body)

    def __enter__(self):
        wait_for('all loops run', lambda: named(self.name) == CPUS)
        return self

    def check(self):
        same('loops that run', CPUS, named(self.name))

    def __exit__(self, *_):
        for sock in self.sockets:
            sock.close()
        wait_for('no loop runs', lambda: named(self.name) == 0)


def cpu_pair(site, language):
    argv, code = BUSY[language]
    verdict = site.run(code, language, limits={'timeout': '30s'}).expect('')
    return verdict['usage']['cpu_ms'], plain_cpu_ms(argv + [code])


@case
def fair_cpu(site):
    """cpu_ms of a program, idle and with all slots busy: as outside"""
    site.start('sandbox_slots %d;' % (CPUS + 1), 'sandbox_cpu_time 30s;')
    idle, loaded = ({language: [] for language in BUSY} for _ in range(2))
    for _ in range(5):
        for language, pairs in idle.items():
            pairs.append(cpu_pair(site, language))
        with Load(site, MARK + 'l') as load:
            for language, pairs in loaded.items():
                pairs.append(cpu_pair(site, language))
            load.check()

    told = []
    for language in BUSY:
        outside = [ms for pairs in (idle, loaded)
                   for _, ms in pairs[language]]
        noise = max(outside) / min(outside)
        one, other = (statistics.median(ours / plain
                                        for ours, plain in pairs[language])
                      for pairs in (idle, loaded))
        told.append('%s: %.2f of a process outside, with load %.2f; outside '
                    'itself 1 to %.2f' % (language, one, other, noise))
        # for a median of five, where single values have this noise; outside,
        # the interpreter's start is billed as well
        bound = max(1.1, noise * noise)
        if not (1 / bound < other / one < bound
                and 0.5 / bound < one < bound and other < bound):
            raise Failure(told[-1])
    return '; '.join(told)


# queues

@case
def full_queue(site):
    """queue full: 503, Retry-After, busy; then served as before"""
    site.start('sandbox_slots 1; sandbox_standby 0; sandbox_queue 1;')
    name = MARK + 'q'
    results = []

    def sleeper(code):
        results.append(site.run(code))

    first = threading.Thread(target=sleeper, args=(NAMED % (name, 3),))
    first.start()
    wait_for('the first runs', lambda: named(name) == 1)
    second = threading.Thread(target=sleeper, args=('print("slept")',))
    second.start()
    wait_for('the second waits', lambda: site.metric('sandbox_queue') == 1)

    for _ in range(5):
        refused = site.run('print(1)')
        verdict = refused.expect(said='503 busy')
        same('returncode', 125, verdict['returncode'])
        if not re.fullmatch(r'[1-9]\d*', refused.headers['Retry-After'] or ''):
            raise Failure('Retry-After: %r' % refused.headers['Retry-After'])

    for thread in (first, second):
        thread.join(LIMIT * SCALE)
    for answer in results:
        answer.expect('slept\n')
    same('answers', 2, len(results))
    site.run('print(2)').expect('2\n')


@case
def tired_of_waiting(site):
    """queue timeout: busy, when no slot came free in time"""
    site.start('sandbox_slots 1; sandbox_standby 0; '
               'sandbox_queue 10 timeout=500ms;')
    name = MARK + 't'
    thread = threading.Thread(target=site.run, args=(NAMED % (name, 3),))
    thread.start()
    wait_for('the first runs', lambda: named(name) == 1)
    answer = site.run('print(1)')
    answer.expect(said='503 busy')
    if not 0.4 < answer.seconds < 2.5 * SCALE:
        raise Failure('busy after %.2f s' % answer.seconds)
    thread.join(LIMIT * SCALE)
    site.run('print(2)').expect('2\n')


@case
def many_sleepers(site):
    """200 sleeps at a time, four slots: success or busy, none hangs"""
    site.start('sandbox_slots 4; sandbox_queue 12;')
    code = 'import time\ntime.sleep(1)\nprint("slept")'
    said = [a.said() for a in parallel(200, lambda _: site.run(code),
                                       range(200))]
    good, busy = said.count('200 success'), said.count('503 busy')
    if good + busy != 200 or good < 16 or busy == 0:
        raise Failure(str({s: said.count(s) for s in said}))
    site.run('print(2)').expect('2\n')
    return '%d served, %d busy' % (good, busy)


# clients

def lose(site, name, seconds, moment):
    """Sends a run and goes away; moment: bytes kept back, or seconds.

    Returns whether the program was seen to run.
    """
    body = body_of(NAMED % (name, seconds))
    sock = site.socket()
    whole = site.head(len(body)) + body
    if isinstance(moment, int):
        sock.sendall(whole[:len(whole) + moment])
    else:
        sock.sendall(whole)
        time.sleep(moment)
    seen = named(name)
    sock.close()
    return seen


@case
def lost_clients(site):
    """a client that goes away ends its run, whenever it goes"""
    site.start('sandbox_slots 2; sandbox_queue 50;')
    moments = [-1, -20, 0, 0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.3]
    seen = 0

    for n, moment in enumerate(moments * 2):
        seen += lose(site, MARK + str(n), 30, moment)

    # of a run that is surely on its way
    for n in range(5):
        name = MARK + 'w%d' % n
        body = body_of(NAMED % (name, 30))
        sock = site.socket()
        sock.sendall(site.head(len(body)) + body)
        wait_for('%s runs' % name, lambda: named(name) == 1)
        seen += 1
        sock.close()
        wait_for('%s has ended' % name, lambda: named(name) == 0, 2)

    def none():
        return not any(p.comm.startswith(MARK)
                       for p in processes.all_processes())

    wait_for('no run is left', none, 2)
    wait_for('no slot is busy', lambda: site.metric('sandbox_slots_busy') == 0
             and site.metric('sandbox_queue') == 0, 2)
    parallel(4, lambda i: site.run('print(%d)' % i).expect('%d\n' % i),
             range(8))
    return '%d clients lost, %d of them seen running' % (
        2 * len(moments) + 5, seen)


@case
def lost_while_queued(site):
    """a client that goes away while it waits: its program never starts"""
    site.start('sandbox_slots 1; sandbox_standby 0; sandbox_queue 5;')
    first, second = MARK + 'a', MARK + 'b'
    thread = threading.Thread(target=site.run, args=(NAMED % (first, 1.5),))
    thread.start()
    wait_for('the first runs', lambda: named(first) == 1)
    body = body_of(NAMED % (second, 30))
    sock = site.socket()
    sock.sendall(site.head(len(body)) + body)
    wait_for('the second waits', lambda: site.metric('sandbox_queue') == 1)
    sock.close()
    wait_for('it is forgotten', lambda: site.metric('sandbox_queue') == 0, 2)
    thread.join(LIMIT * SCALE)
    site.run('print(3)').expect('3\n')
    same('runs of the second', 0, named(second))


@case
def ignored_abort(site):
    """sandbox_ignore_client_abort on: the run goes on, and is counted"""
    site.start(location='sandbox_ignore_client_abort on;')
    name = MARK + 'i'
    wait_for('the first is counted', lambda: site.runs('success') == 1)
    body = body_of(NAMED % (name, 2))
    sock = site.socket()
    sock.sendall(site.head(len(body)) + body)
    wait_for('it runs', lambda: named(name) == 1)
    sock.close()
    time.sleep(1)
    same('a second later', 1, named(name))
    wait_for('it has ended', lambda: named(name) == 0, 2 + LIMIT)
    wait_for('it is counted', lambda: site.runs('success') == 2,
             5)


@case
def slow_body(site):
    """a body that comes drop by drop holds nobody up"""
    site.start('sandbox_slots 1;')
    body = body_of('print(sum(map(int, input().split())))',
                   stdin=' '.join(map(str, range(100))))
    sock = site.socket()
    sock.sendall(site.head(len(body), 'Connection: close\r\n'))
    step = len(body) // 15
    worst = 0

    for at in range(0, len(body), step):
        sock.sendall(body[at:at + step])
        answer = site.run('print(%d)' % at)
        answer.expect('%d\n' % at)
        worst = max(worst, answer.seconds)
        time.sleep(0.1)

    response = http.client.HTTPResponse(sock)
    response.begin()
    Answer(response).expect('4950\n')
    sock.close()
    return 'others wait %.0f ms at most' % (worst * 1000)


@case
def half_a_body(site):
    """a body that never ends is given up by nginx, not run"""
    site.start(location='client_body_timeout 1s;')
    before = site.metric('sandbox_supervisor_runs')
    body = body_of('print(1)')
    sock = site.socket()
    sock.sendall(site.head(len(body) + 1) + body)
    response = http.client.HTTPResponse(sock)
    try:
        response.begin()
        same('status', 408, response.status)
    except (http.client.BadStatusLine, ConnectionError):
        pass        # nginx may close without a word
    sock.close()
    same('runs', before, site.metric('sandbox_supervisor_runs'))


@case
def keep_alive(site):
    """one connection: runs, refusals with and without a body read, runs"""
    site.start()
    client = site.client()
    rows = (
        ('POST', '/run', body_of('print(1)'), '200 success'),
        ('POST', '/run', b'{', '400 invalid'),
        ('PUT', '/run', body_of('print(1)'), '405 invalid'),
        ('POST', '/run', body_of('x' * 100000, 'cobol'), '400 invalid'),
        ('DELETE', '/run', b'x' * 70000, '405 invalid'),
        ('POST', '/run', body_of('1/0'), '200 error'),
        ('GET', '/run', None, '405 invalid'),
        ('POST', '/run', body_of('console.log(1)', 'node'), '200 success'),
    )
    connected = None
    for _ in range(10):
        for method, path, body, said in rows:
            client.send(method, path, body).expect(said=said)
            connected = connected or client.http.sock
            if client.http.sock is not connected:
                raise Failure('%s %s: connection closed' % (method, said))


@case
def pipelined(site):
    """requests sent without waiting: answered all, in order"""
    site.start()
    sock = site.socket()
    sent, wanted = b'', []
    for i in range(20):
        body = b'{' if i % 5 == 3 else body_of('print(%d)' % i)
        wanted.append('invalid' if i % 5 == 3 else '%d\n' % i)
        sent += site.head(len(body)) + body
    sock.sendall(sent)
    stream = sock.makefile('rb')
    for want in wanted:
        code = int(stream.readline().split()[1])
        headers = http.client.parse_headers(stream)
        verdict = json.loads(stream.read(int(headers['Content-Length'])))
        same('answer', want, verdict['status'] if code == 400
             else verdict['output'])
    stream.close()
    sock.close()


# output

SIZES = (0, 1, 4095, 4096, 4097, 65535, 65536, 65537, 1 << 20)

# How a program ends after its last write.
ENDS = {
    'python': (('', 'success'), ('os._exit(0)', 'success'),
               ('os._exit(9)', 'error'), ('1/0', 'error'),
               ('os.kill(os.getpid(), 9)', 'signaled'),
               ('os.abort()', 'signaled'),
               ('while True: pass', 'timeout')),
    'node': (('', 'success'), ('process.exit(9)', 'error'),
             ('process.kill(process.pid, "SIGKILL")', 'signaled'),
             ('for (;;);', 'timeout')),
}

WRITES = {
    'python': 'import os\n'
              'def put(fd, b):\n'
              '    while b: b = b[os.write(fd, b):]\n'
              'put(1, b"o" * %d)\nput(2, b"e" * %d)\n%s\n',
    'node': 'const fs = require("fs");\n'
            'function put(fd, n) {\n'
            '    while (n) n -= fs.writeSync(fd, "x".repeat(n));\n'
            '}\n'
            'put(1, %d); put(2, %d);\n%s\n',
}


def whole(site, language, out, err, end, status):
    answer = site.run(WRITES[language] % (out, err, end), language,
                      limits={'timeout': '2500ms'}
                      if status == 'timeout' else {})
    verdict = answer.expect(said='200 ' + status)
    letters = 'oe' if language == 'python' else 'xx'
    same('%s, %s: stdout' % (language, end), letters[0] * out,
         verdict['output'])
    stderr = verdict['stderr']
    same('%s, %s: stderr' % (language, end), letters[1] * err, stderr[:err])
    same('truncated', {'output': False, 'stderr': False},
         verdict['truncated'])


@case
def complete_output(site):
    """output is complete at every size and after every end"""
    site.start()
    rows = [('python', n, 0, '', 'success') for n in SIZES]
    rows += [('python', 0, n, '', 'success') for n in SIZES]
    for language, ends in ENDS.items():
        for end, status in ends:
            rows.append((language, 200000, 100000, end, status))
    rows += [('python', 65537, 65537, 'os._exit(0)', 'success')] * 20
    parallel(3, lambda row: whole(site, *row), rows)
    return '%d runs' % len(rows)


@case
def partial_output(site):
    """a run out of time: what it wrote until then, and no more"""
    site.start()
    slow = ('import time\nfor i in range(1000):\n'
            '    print(i, flush=True)\n    time.sleep(0.02)\n')
    verdict = site.run(slow, limits={'timeout': '500ms'}).expect(
        said='200 timeout')
    lines = verdict['output'].split('\n')
    same('lines', [str(i) for i in range(len(lines) - 1)] + [''], lines)
    if not 2 <= len(lines) <= 30:
        raise Failure('%d lines in 500 ms' % len(lines))
    lost = 'print("kept in the program")\nwhile True: pass'
    site.run(lost, limits={'timeout': '300ms'}).expect(
        '', '200 timeout')
    flood = 'while True: print("y" * 1000)'
    verdict = site.run(flood, limits={'output': '8m'}).expect(
        said='200 output_exceeded')
    same('length', 8 << 20, len(verdict['output']))
    return '%d lines in 500 ms' % (len(lines) - 1)


# what stays behind

def descriptors(site):
    tree = site.tree()
    found = {}
    for p in [tree.supervisor] + tree.zygotes + site.workers():
        found['%s %d' % (p.comm, p.pid)] = len(os.listdir('/proc/%d/fd'
                                                         % p.pid))
    return found


def all_sorts(site, n):
    """n runs that end in all ways there are, one client lost in ten."""
    programs = ('print(1)', '1/0', 'import os; os._exit(3)',
                'import os; os.kill(os.getpid(), 9)', 'x = b"x" * 10**9',
                'print("x" * (2 << 20))', 'import os; os.fork()', 'print(2)',
                'import sys; print(len(sys.stdin.read()))')

    def one(i):
        if i % 10 == 9:
            lose(site, MARK + 'f', 30, (0, -5, 0.02)[i // 10 % 3])
        elif i % 50 == 8:
            site.run('while True: pass', limits={'timeout': 50})
        elif i % 50 == 18:
            site.run('console.log(1)', 'node')
        else:
            site.run(programs[i % len(programs)], stdin='i' * (i * 100))

    parallel(4, one, range(n))


@case
def no_growth(site):
    """500 runs: no more descriptors in supervisor, zygotes and workers"""
    site.start()
    all_sorts(site, 50)

    def settled():
        return site.metric('sandbox_slots_busy') == 0

    wait_for('idle', settled)
    time.sleep(0.5)
    before = descriptors(site)
    all_sorts(site, 500)
    wait_for('idle', settled)
    time.sleep(0.5)
    after = descriptors(site)
    same('processes', set(before), set(after))
    for name, n in before.items():
        if after[name] > n + 4:
            raise Failure('%s: %d descriptors, then %d' % (name, n,
                                                           after[name]))
    same('internal errors', 0, site.runs('internal_error'))
    return ', '.join('%s %d→%d' % (name.split()[0], n, after[name])
                     for name, n in before.items())
