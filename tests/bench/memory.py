"""What children hold in memory: ten idle ones, and very many live ones."""

import os
import resource
import socket
import statistics
import time

import measure
import programs
import server

KIB = 1024.0
IDLE = 10
LIVE = (10, 100, 1000)
PATIENCE_S = 45     # for so many sandboxes to be alive


def kib_of(pid, path, *keys):
    found = dict.fromkeys(keys, 0)
    with open('/proc/%d/%s' % (pid, path)) as f:
        for line in f:
            key, _, value = line.partition(':')
            if key in found:
                found[key] = int(value.split()[0])
    return found


def child_memory(pid):
    """MiB of one child, by the kernel's own account."""
    sizes = kib_of(pid, 'smaps_rollup', 'Private_Dirty', 'Pss', 'Rss')
    tables = kib_of(pid, 'status', 'VmPTE')['VmPTE']
    return {'private_dirty_mib': sizes['Private_Dirty'] / KIB,
            'page_tables_mib': tables / KIB,
            'together_mib': (sizes['Private_Dirty'] + tables) / KIB,
            'pss_mib': sizes['Pss'] / KIB, 'rss_mib': sizes['Rss'] / KIB}


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def idle(bench):
    """The mean of ten that wait, warmed, for each language."""
    one = bench.server('sandbox_slots 24; sandbox_standby %d;' % IDLE)
    found = {}
    try:
        for language in programs.HELLO:
            if not wait_for(lambda: len(one.standby(language)) >= IDLE, 60):
                found[language] = {'missing': '%d of %d standby children' % (
                    len(one.standby(language)), IDLE)}
                continue
            one.settle()
            sizes = [child_memory(p.pid) for p in one.standby(language)]
            found[language] = {key: statistics.mean(s[key] for s in sizes)
                               for key in sizes[0]}
            found[language]['alive'] = len(sizes)
    finally:
        bench.end(one)
    return found


def print_idle(found):
    rows = []
    for language, sizes in found.items():
        if 'missing' in sizes:
            rows.append((language, sizes['missing'], '', '', '', ''))
        else:
            rows.append((language, sizes['alive'], *(
                '%.2f' % sizes[key] for key in (
                    'private_dirty_mib', 'page_tables_mib', 'together_mib',
                    'pss_mib'))))
    return measure.table(('language', 'alive', 'Private_Dirty MiB',
                          'page tables MiB', 'together MiB', 'Pss MiB'), rows)


def available_mib():
    return kib_of(os.getpid(), '../meminfo', 'MemAvailable')[
        'MemAvailable'] / KIB


def raise_files(n):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < n:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(n, hard), hard))


def live(bench, n):
    """n programs that sleep, and a hello beside them."""
    program = programs.Program('sleep', 'python', programs.SLEEP['python'],
                               None)
    asked = server.request(program.language, program.code,
                           limits={'timeout': '300s'})
    raise_files(n + 100)
    one = bench.server('sandbox_slots %d; sandbox_standby 0; '
                       'sandbox_queue 2000 timeout=300s;' % (n + 1))
    socks = []
    try:
        one.settle()
        before, start = available_mib(), time.monotonic()
        for _ in range(n):
            sock = server.connect(one.port)
            sock.sendall(asked)
            socks.append(sock)
        alive = wait_for(lambda: len(one.standby('python')) >= n, PATIENCE_S)
        seconds = time.monotonic() - start
        found = len(one.standby('python'))
        if not alive:
            return {'wanted': n, 'alive': found,
                    'missing': '%d alive after %d s' % (found, PATIENCE_S)}
        time.sleep(0.5)
        taken = before - available_mib()
        sizes = [child_memory(p.pid) for p in one.standby('python')[:50]]
        hello = one.ready(programs.HELLO['python'])
        row = measure.Row('hello', hello)
        measure.interleave([row], 20)
        return {'wanted': n, 'alive': found, 'seconds': seconds,
                'host_mib_each': taken / n,
                'pss_mib': statistics.mean(s['pss_mib'] for s in sizes),
                'together_mib': statistics.mean(s['together_mib']
                                                for s in sizes),
                'hello_ms': statistics.median(row.wall)}
    finally:
        for sock in socks:
            sock.close()
        bench.end(one)


def many(bench):
    found = []
    for n in LIVE[:1] if bench.quick else LIVE:
        try:
            found.append(live(bench, n))
        except (SystemExit, OSError, socket.error) as e:
            found.append({'wanted': n, 'alive': 0, 'missing': str(e)[-200:]})
    return found


def print_many(found):
    rows = []
    for one in found:
        if 'missing' in one:
            rows.append((one['wanted'], one['missing'], '', '', '', ''))
        else:
            rows.append((one['wanted'], '%.1f' % one['seconds'],
                         '%.2f' % one['host_mib_each'],
                         '%.2f' % one['together_mib'],
                         '%.2f' % one['pss_mib'], '%.2f' % one['hello_ms']))
    return measure.table(
        ('live', 'seconds until all live', 'host memory MiB each',
         'Private_Dirty + page tables MiB', 'Pss MiB', 'a hello beside, ms'),
        rows)
