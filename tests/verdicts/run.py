#!/usr/bin/python3
"""Runs the labelled programs and compares each verdict with its label.

    run.py --build DIR [NAME...]            each combination of layers, and
                                            what bounds memory without one
    run.py --build DIR --accuracy N         N shuffled samples, one nginx
    run.py --build DIR --repeat N           one of each row, N times, all layers

A wrong verdict is printed with its program and fails the run.  What `busy`
refused has not run: it is asked again and not counted.  The result is TAP and
the tables.
"""

import argparse
import collections
import itertools
import json
import math
import os
import queue
import random
import shutil
import sys
import tempfile
import threading
import time

import cases
import corpus
import servers
import walls

CPUS = len(os.sched_getaffinity(0))


class Tap:
    def __init__(self):
        self.n = self.failed = 0
        self.lock = threading.Lock()

    def say(self, wrong, what):
        with self.lock:
            self.n += 1
            self.failed += wrong is not None
            print('%sok %d - %s%s' % ('not ' if wrong else '', self.n, what,
                                      ': ' + wrong if wrong else ''))
            sys.stdout.flush()


def report(program, verdict, wrong):
    """All there is to see of a wrong verdict."""
    print('# %s: %s\n# %s' % (program.file, wrong, json.dumps(verdict)))
    for line in program.code.splitlines():
        print('#     ' + line)


def ask_all(server, samples, jobs, judge):
    """judge(program, verdict) for each sample; returns how often busy."""
    todo = queue.SimpleQueue()
    for sample in samples:
        todo.put(sample)
    busy, errors = [], []

    def work():
        client = server.client()
        try:
            while not errors:
                try:
                    program = todo.get_nowait()
                except queue.Empty:
                    break
                judge(program, client.ask(program))
        except Exception as e:
            errors.append(e)
        finally:
            client.close()
            busy.append(client.busy)

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return sum(busy)


# each program, each combination

# what `--quick` leaves out: few hosts give cgroups to others than root
NOT_QUICK = (['root'], ['hook', 'root'])


def combinations(quick=False):
    """Root can make all eight; a normal user has no root, nor cgroups."""
    root = os.geteuid() == 0
    for hook, cgroup, user in itertools.product((0, 1), repeat=3):
        off = [n for n, o in zip(corpus.LAYERS, (hook, cgroup, user)) if o]
        if root and quick and off in NOT_QUICK:
            continue
        if root or ('root' in off and 'cgroup' in off):
            yield off


def check_layers(tap, server, off):
    """A combination that is none would show nothing."""
    missing = server.missing()
    wrong = None
    if ('cgroup' in off) != ('cgroup' in missing):
        wrong = 'layers missing: %s' % missing
    elif ('root' in off) != ('uid' in missing):
        wrong = 'layers missing: %s' % missing
    tap.say(wrong, '%s: these layers and no others' % name_of(off))


def check_equal_memory(tap, server, off):
    """The same program twice: one metric, and equal (fault class 23)."""
    program = corpus.load(['ok_print_node.js'])[0]
    client = server.client()
    usages = [client.ask(program)['usage'] for _ in range(2)]
    client.close()
    one, other = (usage['memory_bytes'] for usage in usages)
    wrong = None
    if abs(one - other) > 2 << 20 \
            or usages[0]['memory_source'] != usages[1]['memory_source']:
        wrong = str(usages)
    tap.say(wrong, '%s: equal runs, equal memory' % name_of(off))


def check_static_base(tap, server, off):
    """A runtime that no hook sees is measured all the same."""
    client = server.client()
    verdict = client.ask(corpus.load(['past_static_small'])[0])
    client.close()
    base = verdict['limits']['memory_terms']['base']
    tap.say(None if 0 < base < 16 << 20 else 'base %r' % base,
            '%s: base of a static runtime' % name_of(off))


def name_of(off):
    return 'without ' + ', '.join(off) if off else 'all layers'


# whose end a layer of memory or processes decides
SENSITIVE = ('memory_', 'near_', 'past_', 'soft_', 'process_')


def choose(args, programs, off):
    """Quick: what the layers that are off could make a difference for; with
    all of them --accuracy has every program."""
    if not args.quick:
        return programs
    return [p for p in programs if off
            and (p.without or p.file.startswith(SENSITIVE))]


def run_matrix(args, everything, tap):
    table = []
    for off in combinations(args.quick):
        programs = choose(args, everything, off)
        start, before = time.monotonic(), tap.failed

        def judge(program, verdict):
            wrong = program.complain(verdict, off)
            tap.say(wrong, '%s: %s' % (name_of(off), program.file))
            if wrong:
                report(program, verdict, wrong)

        server = servers.Supervisor(args, off)
        try:
            check_layers(tap, server, off)
            check_equal_memory(tap, server, off)
            check_static_base(tap, server, off)
            ask_all(server, programs, args.jobs, judge)
        finally:
            server.stop()
        table.append((name_of(off), len(programs), tap.failed - before,
                      time.monotonic() - start))

    print('#\n# %-28s %8s %6s %8s' % ('layers', 'programs', 'wrong', 'seconds'))
    for row in table:
        print('# %-28s %8d %6d %8.0f' % row)


# many samples

def upper_bound(wrong, n):
    """95 % bound on the rate of errors (Clopper and Pearson), one-sided."""
    if wrong >= n:
        return 1.0
    if wrong == 0:
        return min(1.0, 3.0 / n)

    def at_most_wrong(p):
        logs = [math.lgamma(n + 1) - math.lgamma(k + 1)
                - math.lgamma(n - k + 1) + k * math.log(p)
                + (n - k) * math.log1p(-p) for k in range(wrong + 1)]
        top = max(logs)
        return math.exp(top) * sum(math.exp(x - top) for x in logs)

    lo, hi = wrong / n, 1.0 - 1e-12
    for _ in range(100):
        middle = (lo + hi) / 2
        if at_most_wrong(middle) > 0.05:
            lo = middle
        else:
            hi = middle
    return hi


def print_matrix(counts):
    wanted = sorted({w for w, _ in counts})
    got = sorted({g for _, g in counts})
    width = max(map(len, wanted)) + 2
    print('# expected \\ got')
    print('# ' + ' ' * width + ' '.join('%*s' % (max(len(g), 6), g)
                                        for g in got))
    for w in wanted:
        print('# %-*s%s' % (width, w, ' '.join(
            '%*s' % (max(len(g), 6), counts[w, g] or '.') for g in got)))


def with_all_layers(args, work):
    top = tempfile.mkdtemp(prefix='verdicts.', dir='/tmp')
    os.chmod(top, 0o755)
    server = None
    try:
        server = servers.Nginx(args, top)
        return work(server)
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(top, ignore_errors=True)


def run_accuracy(args, programs, tap):
    seed = args.seed if args.seed is not None else random.randrange(1 << 32)
    print('# seed %d' % seed)
    sys.stdout.flush()
    dice = random.Random(seed)
    samples = programs[:args.accuracy]      # each of them, then by weight
    samples += dice.choices(programs, [p.weight for p in programs],
                            k=args.accuracy - len(samples))
    dice.shuffle(samples)
    counts, lock, wrongs = collections.Counter(), threading.Lock(), []
    start, cpu_ms = time.monotonic(), []

    def judge(program, verdict):
        wrong = program.complain(verdict)
        with lock:
            cpu_ms.append(verdict.get('usage', {}).get('cpu_ms') or 0)
            # the label's status, where it has several the one that came
            wanted = [end.status for end in program.ends]
            got = verdict['status']
            counts[got if got in wanted else wanted[0], got] += 1
            if wrong:
                wrongs.append(program.file)
                report(program, verdict, wrong)
            done = sum(counts.values())
            if done % 1000 == 0:
                print('# %d of %d, %d wrong, %.0f s' % (
                    done, len(samples), len(wrongs), time.monotonic() - start))
            sys.stdout.flush()

    busy = with_all_layers(args, lambda server: ask_all(server, samples,
                                                        args.jobs, judge))
    print_matrix(counts)
    n = len(samples)
    print('# seed %d: %d samples of %d programs in %.0f s, %d wrong, %d times '
          'busy' % (seed, n, len(programs), time.monotonic() - start,
                    len(wrongs), busy))
    print('# CPU time of the runs: %.0f ms in the mean' % (sum(cpu_ms) / n))
    print('# error rate below %.6f %% (95 %%)'
          % (100 * upper_bound(len(wrongs), n)))
    tap.say('%d wrong' % len(wrongs) if wrongs else None,
            'accuracy: %d samples' % n)


def run_repeats(args, programs, tap):
    """A program of each row, or those named, so often: none may differ."""
    if not args.names:
        programs = [p for p in programs if 'row' in p.label]

    def work(server):
        for program in programs:
            ends, wrongs = collections.Counter(), []

            def judge(program, verdict):
                wrong = program.complain(verdict)
                if wrong:
                    wrongs.append(wrong)
                    report(program, verdict, wrong)
                ends[verdict['status'], verdict.get('reason')] += 1

            ask_all(server, [program] * args.repeat, args.jobs, judge)
            wrong = None
            if wrongs:
                wrong = wrongs[0]
            elif len(ends) != 1 and len(program.ends) == 1:
                wrong = 'ends differ: %s' % dict(ends)
            tap.say(wrong, '%d times %s' % (args.repeat, program.file))
    with_all_layers(args, work)


def run(args, programs, tap):
    if args.accuracy:
        run_accuracy(args, programs, tap)
    elif args.repeat:
        run_repeats(args, programs, tap)
    else:
        if not args.names:
            tap.say(cases.check(programs), 'each fault class has a test')
        run_matrix(args, programs, tap)
        if not args.names:
            walls.run(args, tap)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', required=True)
    parser.add_argument('--faulty', help='a build with -DSBX_FAULTS')
    parser.add_argument('--nginx', default='/usr/sbin/nginx')
    parser.add_argument('--cc', default='cc')
    parser.add_argument('--port', type=int, default=19490)
    parser.add_argument('--jobs', type=int)
    parser.add_argument('--seed', type=int)
    parser.add_argument('--accuracy', type=int)
    parser.add_argument('--repeat', type=int)
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('names', nargs='*')
    args = parser.parse_args()
    args.faulty = args.faulty or args.build

    many = args.accuracy or args.repeat
    args.jobs = args.jobs or (4 if many else 2) * CPUS
    programs = corpus.load(args.names)
    tap = Tap()

    with tempfile.TemporaryDirectory(prefix='verdicts.',
                                     dir='/var/tmp') as top:
        # a runtime cannot be in /tmp: every run has one of its own
        os.chmod(top, 0o755)
        args.native = top
        servers.compile_natives(args)
        for program in programs:
            program.add_file(top)
        run(args, programs, tap)
    print('1..%d' % tap.n)
    return tap.failed != 0


if __name__ == '__main__':
    sys.exit(main())
