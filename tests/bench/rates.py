"""Many runs at a time: rates and their latencies, and one below saturation."""

import json
import os
import random
import select
import statistics
import subprocess
import tempfile
import time

import measure
import peers
import programs
import server

WIDTHS = (1, 2, 8, 50)


def ab(port, program, n, width, path='run'):
    """Rate, and milliseconds at the median and the 99th percentile."""
    with tempfile.TemporaryDirectory(prefix='bench-') as place:
        body, table = place + '/body', place + '/table'
        with open(body, 'w') as f:
            json.dump({'language': program.language, 'code': program.code}, f)
        done = subprocess.run(
            ['/usr/bin/ab', '-q', '-k', '-n', str(n), '-c', str(width), '-p',
             body, '-T', 'application/json', '-e', table,
             'http://127.0.0.1:%d/%s' % (port, path)], env=peers.ENV,
            capture_output=True, text=True)
        out = done.stdout
        if done.returncode or 'Non-2xx' in out:
            raise SystemExit('ab: %s%s' % (out, done.stderr))
        with open(table) as f:
            at = dict(line.split(',') for line in f.read().splitlines()[1:])
    rate = [line.split()[3] for line in out.splitlines()
            if line.startswith('Requests per second:')]
    return float(rate[0]), float(at['50']), float(at['99'])


def concurrency(bench):
    """Rounds over all combinations; the median of each."""
    found = {}
    for _ in range(3):
        for language, program in programs.HELLO.items():
            for width in WIDTHS:
                for name in ('full', 'drained'):
                    one = getattr(bench, name)
                    n = bench.n(160 if width > 1 else 80)
                    found.setdefault((language, width, name), []).append(
                        ab(one.port, program, n, width))
    return [{'language': language, 'width': width, 'pool': name,
             **dict(zip(('per_s', 'median_ms', 'p99_ms'),
                        (statistics.median(v) for v in zip(*runs))))}
            for (language, width, name), runs in found.items()]


def print_concurrency(rows):
    return measure.table(
        ('language', 'at a time', 'pool', 'runs/s', 'median ms', 'p99 ms'),
        [(r['language'], r['width'], r['pool'], '%.0f' % r['per_s'],
          '%.2f' % r['median_ms'], '%.2f' % r['p99_ms']) for r in rows])


def cold_rate(program, n, width):
    """Cold starts a second, `width` at a time."""
    peer = peers.Peers(program)
    try:
        start = time.perf_counter()
        procs = []
        for _ in range(n):
            procs.append(subprocess.Popen(
                peer.cold, env=peers.ENV, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL))
            if len(procs) == width:
                procs.pop(0).wait()
        for p in procs:
            p.wait()
        return n / (time.perf_counter() - start)
    finally:
        peer.close()


def sustained(bench):
    """8 at a time, nothing forked ahead, and cold starts in turn."""
    found = {}
    for language, program in programs.HELLO.items():
        cold, ours = [], []
        for i in range(6):
            if i % 2:
                cold.append(cold_rate(program, bench.n(80), 8))
            ours.append(ab(bench.drained.port, program, bench.n(300), 8)[0])
            if i % 2 == 0:
                cold.append(cold_rate(program, bench.n(80), 8))
        found[language] = {
            'cold_per_s': statistics.median(cold),
            'sandbox_per_s': statistics.median(ours),
            # of each round by itself: the machine's pace changes
            'ratio': statistics.median(o / c for o, c in zip(ours, cold))}
    return found


def policy(bench):
    """The rate of a location with all hooks to that of one without."""
    ratios = []
    for i in range(9):
        paths = ['run', 'policy'] if i % 2 else ['policy', 'run']
        rates = {p: ab(bench.drained.port, programs.HELLO['python'],
                       bench.n(200), 8, p)[0] for p in paths}
        ratios.append(rates['policy'] / rates['run'])
    return statistics.median(ratios)


class Paced:
    """Arrivals as strangers make them: by chance, whatever the answers do."""

    def __init__(self, port, program, rate, seconds, seed=1):
        self.asked = server.request(program.language, program.code)
        self.free = [server.connect(port) for _ in range(64)]
        self.busy = {}              # socket: when its request was due
        dice = random.Random(seed)
        at, self.due = 0.0, []
        while at < seconds:
            at += dice.expovariate(rate)
            self.due.append(at)
        self.times = []

    def send_due(self, now):
        while self.due and self.free and self.due[0] <= now:
            due, sock = self.due.pop(0), self.free.pop()
            # late because nothing was free is the server's doing
            self.busy[sock] = now if self.free else due
            sock.sendall(self.asked)

    def run(self):
        start = time.perf_counter()
        while self.due or self.busy:
            now = time.perf_counter() - start
            self.send_due(now)
            wait = 30.0
            if self.due and self.free:
                wait = max(0.0, self.due[0] - now)
            for sock in select.select(list(self.busy), [], [], wait)[0]:
                body = server.read_answer(sock)
                if b'"output":"2\\n"' not in body:
                    raise SystemExit('wrong answer: %.300r' % body)
                self.times.append(
                    (time.perf_counter() - start - self.busy.pop(sock)) * 1000)
                self.free.append(sock)
        for sock in self.free:
            sock.close()
        return self.times


def half_capacity(bench):
    """At half the rate that the same server reaches with 8 at a time."""
    found = {}
    for language, program in programs.HELLO.items():
        capacity = statistics.median(
            ab(bench.full.port, program, bench.n(400), 8)[0]
            for _ in range(3))
        bench.full.settle()
        times = Paced(bench.full.port, program, capacity / 2,
                      bench.seconds(8)).run()
        median = statistics.median(times)
        p99 = measure.percentile(times, 0.99)
        found[language] = {'capacity_per_s': capacity, 'runs': len(times),
                           'median_ms': median, 'p99_ms': p99,
                           'ratio': p99 / median}
    return found


def build_ready(bench):
    """What the isolation tax needs: a build in which layers can be off."""
    return bench.faulty and os.path.exists(
        os.path.join(bench.faulty, 'libsbx_python.so'))
