#!/usr/bin/python3
"""What a run costs: ratios to starting the interpreter, in one interleaved run.

    run.py --build DIR [--faulty DIR] [--quick] [CASE...]

Prints Markdown; BENCH_JSON=FILE gets the same as JSON.  Reports, asserts
nothing: machines differ.  Wants two processors that nobody else uses.
"""

import argparse
import json
import os
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))

import acceptance
import isolation
import latency
import measure
import memory
import path
import rates
import server


class Bench:
    """Servers, sizes, and what could not be measured here."""

    def __init__(self, args):
        self.build, self.faulty = args.build, args.faulty
        self.port, self.quick = args.port, args.quick
        self.missing, self.running = {}, []
        self.full = self.drained = None

    def n(self, count):
        return max(2, count // 10) if self.quick else count

    def seconds(self, count):
        return 1 if self.quick else count

    def server(self, more='', socket=None, workers=2):
        taken = {one.port for one in self.running}
        free = next(p for p in range(self.port, self.port + 20)
                    if p not in taken)
        one = server.Server(self.build, free, more, socket, workers)
        self.running.append(one)
        return one

    def end(self, one):
        self.running.remove(one)
        one.stop()

    def start(self):
        """The two that most cases ask: with standby children, and without."""
        self.full = self.server('sandbox_standby auto;')
        self.drained = self.server('sandbox_standby 0;')
        self.full.settle()
        self.drained.settle()

    def stop(self):
        for one in list(self.running):
            self.end(one)


def print_sustained(found):
    return measure.table(
        ('language', 'sandbox/s', 'cold starts/s', 'ratio'),
        [(language, '%.0f' % one['sandbox_per_s'], '%.0f' % one['cold_per_s'],
          '%.1f' % one['ratio']) for language, one in found.items()])


def print_half(found):
    return measure.table(
        ('language', 'capacity/s', 'runs', 'median ms', 'p99 ms',
         'p99 to median'),
        [(language, '%.0f' % one['capacity_per_s'], one['runs'],
          '%.2f' % one['median_ms'], '%.2f' % one['p99_ms'],
          '%.1f' % one['ratio']) for language, one in found.items()])


def print_violation(found):
    return ('median %(median_ms).2f ms, p99 %(p99_ms).2f ms; p99 of a hello '
            'in turn %(hello_p99_ms).2f ms' % found)


def print_numpy(found):
    if found is None:
        return 'numpy is not installed'
    return ('import numpy: %(plain_ms).1f ms, with sandbox_preload '
            '%(preloaded_ms).1f ms; a hello there %(hello_ms).1f ms; ratio '
            '%(ratio).3f' % found)


# name for T=, title, what measures, what prints
CASES = (
    ('echo', 'nginx alone (`return 200`)', latency.echo,
     lambda f: 'median %(median_ms).3f ms, p99 %(p99_ms).3f ms' % f),
    ('hello', 'Hello', latency.hello, latency.print_rows),
    ('imports', 'Fifteen imports', latency.imports, latency.print_rows),
    ('streams', '1 MiB in, 1 MiB out', latency.streams, latency.print_rows),
    ('steady', 'Steady state', latency.steady, latency.print_rows),
    ('concurrency', 'Concurrency', rates.concurrency,
     rates.print_concurrency),
    ('sustained', 'Sustained: pool drained, 8 at a time', rates.sustained,
     print_sustained),
    ('half_capacity', 'Half capacity: arrivals by chance, pool full',
     rates.half_capacity, print_half),
    ('violation', 'From the violating allocation to the answer',
     latency.violation, print_violation),
    ('policy', 'Rate with a policy\'s three hooks to without', rates.policy,
     lambda f: '%.2f' % f),
    ('numpy', 'A preloaded module', latency.numpy, print_numpy),
    ('idle', 'Memory of idle standby children', memory.idle,
     memory.print_idle),
    ('live', 'Live sandboxes', memory.many, memory.print_many),
    ('isolation', 'Isolation tax: pool drained, 8 at a time', isolation.tax,
     isolation.print_tax),
    ('path', 'Where a hello\'s time goes', path.measure_both,
     path.print_both),
)


def print_host(host):
    print('%(date)s, %(processor)s%(where)s, %(processors)d processors, '
          '%(memory_mib)d MiB, Linux %(kernel)s; %(python)s, Node %(node)s, '
          '%(nginx)s; as %(user)s; load before %(load_before).2f\n'
          % dict(host, where=' (virtual)' if host['virtual'] else ''))
    sys.stdout.flush()


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('--build', type=os.path.abspath,
                   default=os.path.join(TOP, 'build'))
    p.add_argument('--faulty', type=os.path.abspath,
                   help='a build with -DSBX_FAULTS')
    p.add_argument('--port', type=int, default=18990)
    p.add_argument('--quick', action='store_true',
                   help='a tenth of the runs: whether it works at all')
    p.add_argument('case', nargs='*', metavar='CASE',
                   help=', '.join(name for name, *_ in CASES))
    args = p.parse_args()
    unknown = set(args.case) - {name for name, *_ in CASES}
    if unknown:
        p.error('no such case: ' + ' '.join(sorted(unknown)))

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    bench, start = Bench(args), time.monotonic()
    results = {'host': measure.host()}
    print_host(results['host'])
    try:
        bench.start()
        for name, title, run, show in CASES:
            if args.case and name not in args.case:
                continue
            results[name] = run(bench)
            print('## %s\n\n%s\n' % (title, show(results[name])))
            sys.stdout.flush()
    finally:
        bench.stop()
    finish(bench, results, args, time.monotonic() - start)


def finish(bench, results, args, seconds):
    for name, why in bench.missing.items():
        print('%s: no row, %s' % (name, why))
    if not args.case:
        results['acceptance'] = acceptance.collect(results)
        print('\n## Acceptance\n\n%s\n'
              % acceptance.print_rows(results['acceptance']))
    results['missing'] = bench.missing
    results['seconds'] = seconds
    results['load_after'] = os.getloadavg()[0]
    print('%.0f s, load after %.2f' % (seconds, results['load_after']))
    if os.environ.get('BENCH_JSON'):
        with open(os.environ['BENCH_JSON'], 'w') as f:
            json.dump(results, f, indent=2)
            f.write('\n')


if __name__ == '__main__':
    main()
