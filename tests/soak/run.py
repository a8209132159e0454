#!/usr/bin/python3
"""Very many mixed runs against one nginx: does anything drift?

    run.py --build DIR [-n N] [--seed N] [KIND...]

Both languages, every kind of end.  Ten parts; after each the server comes to
rest and is looked at.  Prints the first and the last part's latencies by kind,
and what the server holds.  Fails on wrong verdicts, and on counts (processes,
threads, descriptors, mounts, slots) that differ between the first rest and the
last; times and memory are reported.  The result is TAP.
"""

import argparse
import json
import os
import queue
import random
import signal
import statistics
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '../bench'))

import kinds
import measure
import server
import watch

PARTS = 10
REST_S = 60     # for what was replaced or renewed meanwhile to be in place


class Client:
    """One connection for all parts, so that nothing else may come and go."""

    def __init__(self, port):
        self.sock = server.connect(port, 120)
        self.error = None

    def ask(self, one):
        """A `busy` answer has not run and is asked again."""
        while True:
            start = time.monotonic()
            self.sock.sendall(
                b'POST /run HTTP/1.1\r\nHost: x\r\nContent-Type: '
                b'application/json\r\nContent-Length: %d\r\n\r\n'
                % len(one.body) + one.body)
            body = server.read_answer(self.sock)
            if b'"status":"busy"' not in body[:40]:
                return body, (time.monotonic() - start) * 1000
            time.sleep(0.05)

    def work(self, todo, done):
        try:
            while True:
                one = todo.get_nowait()
                body, ms = self.ask(one)
                done.append((one.name, ms, kinds.complain(one, body)))
        except queue.Empty:
            pass
        except Exception as e:
            self.error = e


def run_part(clients, samples):
    """(name, milliseconds, complaint) of each."""
    todo, done = queue.SimpleQueue(), []
    for one in samples:
        todo.put(one)
    threads = [threading.Thread(target=client.work, args=(todo, done))
               for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for client in clients:
        if client.error:
            raise client.error
    return done


def rest(site, wanted=None):
    """At rest; until the counts are as wanted, as long as that may take."""
    end = time.monotonic() + REST_S
    while True:
        site.settle()
        counts, sizes = watch.look(site)
        if (wanted is None or not watch.differences(wanted, counts)
                or time.monotonic() > end):
            return counts, sizes


def print_latencies(first, last):
    rows = []
    for name in sorted({name for name, *_ in first + last}):
        cells = []
        for part in (first, last):
            ms = [t for n, t, _ in part if n == name]
            cells += ([len(ms), '%.1f' % statistics.median(ms),
                       '%.1f' % measure.percentile(ms, 0.99)] if ms
                      else [0, '-', '-'])
        rows.append((name, *cells))
    return measure.table(('run', 'first tenth', 'median ms', 'p99 ms',
                          'last tenth', 'median ms', 'p99 ms'), rows)


def print_holdings(first, last):
    rows = []
    for one, other in zip(first, last):         # counts, then sizes
        for role in one:
            for what, value in one[role].items():
                text = '%.2f' if isinstance(value, float) else '%d'
                rows.append((role, what, text % value,
                             text % other[role][what]))
    return measure.table(('of', 'what', 'after the first tenth',
                          'after the last'), rows)


def soak(site, args):
    dice = random.Random(args.seed)
    weights = [k.weight for k in args.kinds]
    size = max(len(args.kinds), args.n // PARTS)
    parts, looks, start = [], [], time.monotonic()
    clients = [Client(site.port) for _ in range(args.jobs)]
    for i in range(PARTS):
        # each kind in each part, then by weight
        samples = list(args.kinds) + dice.choices(
            args.kinds, weights, k=size - len(args.kinds))
        dice.shuffle(samples)
        parts.append(run_part(clients, samples))
        if i in (0, PARTS - 1):
            looks.append(rest(site, looks[0][0] if looks else None))
        print('# %d of %d, %.0f s' % (sum(map(len, parts)), size * PARTS,
                                      time.monotonic() - start))
        sys.stdout.flush()
    return parts, looks


def report(parts, looks):
    print('\n%s\n\n%s\n' % (print_latencies(parts[0], parts[-1]),
                            print_holdings(looks[0], looks[1])))
    slow = max((ms, name) for part in parts for name, ms, _ in part)
    print('# the slowest of all: %s, %.0f ms' % (slow[1], slow[0]))
    wrong = [(name, why) for part in parts for name, _, why in part if why]
    for name, why in wrong[:50]:
        print('# %s: %s' % (name, why))
    drift = watch.differences(looks[0][0], looks[1][0])
    for line in drift:
        print('# %s' % line)
    for i, (bad, what) in enumerate((
            (wrong, '%d verdicts' % sum(map(len, parts))),
            (drift, 'counts of processes, descriptors, mounts, slots'))):
        print('%sok %d - %s%s' % ('not ' if bad else '', i + 1, what,
                                  ': %d wrong' % len(bad) if bad else ''))
    print('1..2')
    return bool(wrong or drift)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('--build', type=os.path.abspath, required=True)
    p.add_argument('--port', type=int, default=18995)
    p.add_argument('-n', type=int, default=100000)
    p.add_argument('--seed', type=int, default=random.randrange(1 << 32))
    p.add_argument('--jobs', type=int,
                   default=2 * len(os.sched_getaffinity(0)))
    p.add_argument('kind', nargs='*', help='kinds whose name begins so')
    args = p.parse_args()
    args.kinds = [k for k in kinds.KINDS
                  if not args.kind or k.name.startswith(tuple(args.kind))]
    if not args.kinds:
        p.error('no such kind')

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print('# %s; seed %d' % (json.dumps(measure.host()), args.seed))
    site = server.Server(args.build, args.port,
                         'sandbox_processes 1 max=8; sandbox_standby auto; '
                         'sandbox_zygote_renew runs=%d;'
                         % max(100, args.n // 20))
    try:
        parts, looks = soak(site, args)
    finally:
        site.stop()
    return report(parts, looks)


if __name__ == '__main__':
    sys.exit(main())
