"""Interleaved measurement: every variant once a round, in changing order."""

import os
import resource
import statistics
import time

WARM_UP = 3         # rounds that do not count
UNREAPED = ('bubblewrap',)  # leave before their children's time is counted
PAUSE_S = 0.02      # standby children become ready, what has ended is cleaned
REFILL_S = 0.15     # all of a pool, both languages'


class Row:
    """A variant: run() once; its own milliseconds, where it says them."""

    def __init__(self, name, run, server=None):
        self.name, self.run, self.server = name, run, server
        self.wall, self.own, self.cpu = [], [], None

    def once(self, counts):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        own = self.run()
        wall = (time.perf_counter() - start) * 1000
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if not counts:
            return
        self.wall.append(wall)
        if own is not None:
            self.own.append(own)
        if self.server is None:
            self.cpu = self.cpu or []
            self.cpu.append((after.ru_utime + after.ru_stime
                             - before.ru_utime - before.ru_stime) * 1000)


def percentile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * p))]


def server_cpu_ms(row, n):
    """A run's share in what the whole server used, children reaped."""
    row.server.settle()
    before = row.server.cpu_s()
    for _ in range(n):
        row.run()
        time.sleep(PAUSE_S)
    row.server.settle()
    return (row.server.cpu_s() - before) * 1000 / n


def interleave(rows, n, cpu_runs=None, pause=PAUSE_S):
    for i in range(n + WARM_UP):
        for k in range(len(rows)):
            time.sleep(pause)
            rows[(i + k) % len(rows)].once(i >= WARM_UP)
    for row in rows:
        if row.server is not None:
            row.cpu = [server_cpu_ms(row, cpu_runs or n)]


def describe(case, language, rows):
    """What goes into tables: ratios are to the first row."""
    base = statistics.median(rows[0].wall)
    found = []
    for row in rows:
        median = statistics.median(row.wall)
        one = {'case': case, 'language': language, 'variant': row.name,
               'n': len(row.wall), 'median_ms': median,
               'p99_ms': percentile(row.wall, 0.99),
               'cpu_ms': (None if row.name in UNREAPED
                          else statistics.mean(row.cpu)),
               'ratio': median / base}
        if row.own:
            one['own_ms'] = statistics.median(row.own)
            # of each round by itself: the machine's pace changes
            one['own_ratio'] = statistics.median(
                mine / plain for mine, plain in zip(row.own, rows[0].own))
        found.append(one)
    return found


def as_ratio(ratio):
    """1/30 rather than 0.033."""
    if ratio is None:
        return '-'
    return '1/%.1f' % (1 / ratio) if ratio < 0.9 else '%.2f' % ratio


def table(head, rows):
    """Markdown."""
    lines = ['| %s |' % ' | '.join(head), '|%s' % ('---|' * len(head))]
    lines += ['| %s |' % ' | '.join(str(c) for c in row) for row in rows]
    return '\n'.join(lines)


def read_first(path, key):
    try:
        with open(path) as f:
            for line in f:
                if line.startswith(key):
                    return line.partition(':')[2].strip()
    except OSError:
        pass
    return 'unknown'


def host():
    """What the figures depend on."""
    import platform
    import subprocess

    def version(*argv):
        done = subprocess.run(argv, capture_output=True, text=True)
        return (done.stdout + done.stderr).strip().splitlines()[0]

    return {'date': time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime()),
            'kernel': platform.release(),
            'processor': read_first('/proc/cpuinfo', 'model name'),
            'virtual': ' hypervisor ' in read_first('/proc/cpuinfo', 'flags')
                       + ' ',
            'processors': len(os.sched_getaffinity(0)),
            'memory_mib': int(read_first('/proc/meminfo',
                                         'MemTotal').split()[0]) // 1024,
            'python': version('/usr/bin/python3', '-V'),
            'node': version('/usr/bin/node', '-v'),
            'nginx': version('/usr/sbin/nginx', '-v'),
            'user': 'root' if os.geteuid() == 0 else 'a normal user',
            'load_before': os.getloadavg()[0]}
