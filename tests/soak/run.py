#!/usr/bin/python3
"""Very many mixed runs against one nginx: does anything drift?

    run.py --build DIR [-n N] [--seed N] [KIND...]

Both languages, every kind of end.  Ten parts; after the first and the last the
server comes to rest and is looked at.  Among the runs are cold starts of the
plain interpreters, which the server has no part in: the machine's own pace at
that time, under the same load.  Prints what a hello and a cold start took in
each part, and alone, at rest; the first and the last part's latencies by kind;
and what the server holds.  Fails on wrong verdicts, on counts (processes,
threads, descriptors, mounts, slots) that differ between the first rest and the
last, and when a hello has become slower by half against the cold starts around
it; other times, and memory, are reported.  The result is TAP.
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
import peers
import programs
import server
import watch

PARTS = 10
REST_S = 60     # for what was replaced or renewed meanwhile to be in place
COLD = 'cold start'
COLD_PART = 50  # one of so many runs of a part is a cold start, by language
DRIFT = 1.5     # at most, where a part has so many cold starts:
ENOUGH = 20
ALONE = 30      # hellos and cold starts at rest


def cold_name(language):
    return '%s, %s' % (COLD, language)


class Client:
    """One connection for all parts, so that nothing else may come and go."""

    def __init__(self, port):
        self.sock = server.connect(port, 120)
        self.error = None

    def once(self, one):
        """(name, milliseconds, complaint)"""
        if isinstance(one, peers.Peers):
            start = time.monotonic()
            one.run(one.cold)
            return (cold_name(one.program.language),
                    (time.monotonic() - start) * 1000, None)
        body, ms = self.ask(one)
        return one.name, ms, kinds.complain(one, body)

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
                done.append(self.once(todo.get_nowait()))
        except queue.Empty:
            pass
        except BaseException as e:      # a cold start's is a SystemExit
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


def paces(parts):
    """By language, of each part: medians of hello and of the cold start."""
    def median(part, name):
        return statistics.median(t for n, t, _ in part if n == name)

    names = {name for part in parts for name, *_ in part}
    return {language: [(median(part, 'hello, ' + language),
                        median(part, cold_name(language))) for part in parts]
            for language in programs.HELLO if 'hello, ' + language in names}


def print_paces(found):
    rows = []
    for language, pairs in found.items():
        for what, values in (
                ('hello, ms', ['%.1f' % h for h, _ in pairs]),
                ('cold start, ms', ['%.1f' % c for _, c in pairs]),
                ('hello to cold', ['%.2f' % (h / c) for h, c in pairs])):
            rows.append((language, what, *values))
    return measure.table(('language', 'median of each part',
                          *map(str, range(1, PARTS + 1))), rows)


def slower(found):
    """Languages whose hello lost against the cold start, and by how much."""
    drift = {language: pairs[-1][0] / pairs[-1][1]
             / (pairs[0][0] / pairs[0][1]) for language, pairs in found.items()}
    return ['hello in %s took %.2f times as long, by cold starts'
            % (language, by) for language, by in drift.items() if by > DRIFT]


def alone(site, cold):
    """Medians of each, in turn, while nothing else runs."""
    rows = []
    for peer in cold:
        language = peer.program.language
        rows += [measure.Row('hello, ' + language, site.ready(peer.program)),
                 measure.Row(cold_name(language),
                             lambda peer=peer: peer.run(peer.cold))]
    measure.interleave(rows, ALONE)
    return {row.name: statistics.median(row.wall) for row in rows}


def print_alone(first, last):
    return measure.table(
        ('alone, at rest, median ms', 'after the first tenth',
         'after the last'),
        [(name, '%.2f' % ms, '%.2f' % last[name])
         for name, ms in first.items()])


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


def soak(site, cold, args):
    dice = random.Random(args.seed)
    weights = [k.weight for k in args.kinds]
    size = max(len(args.kinds), args.n // PARTS)
    parts, looks, calm, start = [], [], [], time.monotonic()
    clients = [Client(site.port) for _ in range(args.jobs)]
    for i in range(PARTS):
        # each kind in each part, then by weight
        samples = list(args.kinds) + dice.choices(
            args.kinds, weights, k=size - len(args.kinds))
        samples += cold * (size // COLD_PART + 1)
        dice.shuffle(samples)
        parts.append(run_part(clients, samples))
        if i in (0, PARTS - 1):
            looks.append(rest(site, looks[0][0] if looks else None))
            calm.append(alone(site, cold))
        print('# %d of %d, %.0f s' % ((i + 1) * size, size * PARTS,
                                      time.monotonic() - start))
        sys.stdout.flush()
    return parts, looks, calm


def report(parts, looks, calm):
    pace = paces(parts)
    for text in (print_paces(pace), print_alone(*calm),
                 print_latencies(parts[0], parts[-1]),
                 print_holdings(*looks)):
        print('\n' + text)
    print()
    slow = max((ms, name) for part in parts for name, ms, _ in part
               if not name.startswith(COLD))
    print('# the slowest of all: %s, %.0f ms' % (slow[1], slow[0]))
    wrong = [(name, why) for part in parts for name, _, why in part if why]
    for name, why in wrong[:50]:
        print('# %s: %s' % (name, why))
    drift = watch.differences(looks[0][0], looks[1][0])
    enough = pace and len(parts[0]) // COLD_PART >= ENOUGH
    late = slower(pace) if enough else []
    for line in drift + late:
        print('# %s' % line)
    runs = sum(not name.startswith(COLD) for part in parts
               for name, *_ in part)
    for i, (bad, what) in enumerate((
            (wrong, '%d verdicts' % runs),
            (drift, 'counts of processes, descriptors, mounts, slots'),
            (late, 'what a hello takes, by cold starts%s'
             % ('' if enough else ' # SKIP too few of them')))):
        print('%sok %d - %s%s' % ('not ' if bad else '', i + 1, what,
                                  ': %d wrong' % len(bad) if bad else ''))
    print('1..3')
    return bool(wrong or drift or late)


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
    cold = [peers.Peers(program) for program in programs.HELLO.values()]
    try:
        results = soak(site, cold, args)
    finally:
        site.stop()
        for peer in cold:
            peer.close()
    return report(*results)


if __name__ == '__main__':
    sys.exit(main())
