#!/usr/bin/python3
"""Runs the hostile programs beside this file and looks at the verdicts.

    run.py --url http://127.0.0.1:PORT/run [NAME...]
    run.py --deer-flow PATH [NAME...]

A program's first lines say what must come out:

    # expect: STATUS[|STATUS...] [REASON]     // in JavaScript
    # limits: {"timeout": 300}                the request's limits
    # output: TEXT      is in the output; =TEXT is all of it; ?TEXT is in it,
                        where the status is success
    # times: N          so many runs in a row
    # distinct: output  no two of them may print the same

No output may have the word "breach" in it, and nobody may have used more than
his limits by the hook's count.  After each program a polite one
must come out right; with --url three more things are asked: runs with different
disk limits at the same time, polite ones while hostile ones are at work, and
Node.js from a zygote of some age.
The result is TAP and a last line with the sums.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
HELLO = 'print("hello", input())\n'
QUIET = '''
let n = 0;
new PerformanceObserver((list) => { n += list.getEntries().length; })
  .observe({ entryTypes: ['gc'] });
setTimeout(() => console.log(`${n} collections`), 300);
'''
BEGAN = time.monotonic()
FLAGS = {'memory': '--memory', 'timeout': '--timeout', 'output': '--output',
         'cpu_time': '--cpu-time', 'disk': '--disk', 'stack': '--stack',
         'processes': '--processes', 'threads': '--threads',
         'open_files': '--open-files', 'allocation': '--allocation',
         'cpu_per_second': '--cpu-per-second'}


class Server:
    def __init__(self, url):
        self.url = url

    def run(self, language, code, limits=None, stdin=''):
        body = {'language': language, 'code': code, 'stdin': stdin,
                'limits': limits or {}}
        request = urllib.request.Request(
            self.url, json.dumps(body).encode(),
            {'Content-Type': 'application/json'})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as e:
            return json.loads(e.read() or b'{}')


class Command:
    def __init__(self, path):
        self.path = path

    def run(self, language, code, limits=None, stdin=''):
        with tempfile.TemporaryDirectory() as top:
            name = os.path.join(top, 'main.js' if language == 'node'
                                else 'main.py')
            with open(name, 'w') as f:
                f.write(code)
            with open(top + '/stdin', 'w') as f:
                f.write(stdin)

            argv = [self.path, 'run', '--json', '--stdin', top + '/stdin']
            argv += ['--zygote'] if language == 'python' else []
            for key, value in (limits or {}).items():
                argv += [FLAGS[key], str(value)]

            done = subprocess.run(argv + [name], capture_output=True,
                                  timeout=60)
            return json.loads(done.stdout)


def read_program(name):
    with open(os.path.join(HERE, name)) as f:
        code = f.read()
    head = dict(re.findall(r'^(?:#|//) (\w+): (.*)$', code, re.M))
    for key in ('limits',):
        head[key] = json.loads(head.get(key, '{}'))
    return head, code


def complain(head, verdict):
    """What is wrong with a verdict, or None."""
    states, _, reason = head['expect'].partition(' ')
    output = verdict.get('output') or ''
    wanted = head.get('output', '').encode().decode('unicode_escape')

    if verdict.get('status') not in states.split('|'):
        return '%s (%s: %s), not %s' % (verdict.get('status'),
                                        verdict.get('reason'),
                                        verdict.get('error'), head['expect'])
    if reason and verdict.get('reason') != reason:
        return 'reason %s, not %s' % (verdict.get('reason'), reason)
    if 'breach' in output:
        return output.strip()
    usage, limits = verdict.get('usage') or {}, verdict.get('limits') or {}
    if usage.get('memory_source') == 'hook':
        for used in ('memory', 'threads', 'open_files'):
            seen = usage['memory_bytes' if used == 'memory' else used]
            if seen is not None and seen > limits[used]:
                return '%s used %d, of %d' % (used, seen, limits[used])
    if wanted.startswith('?'):
        if verdict['status'] == 'success' and wanted[1:] not in output:
            return 'output %r' % output[:200]
    elif wanted.startswith('='):
        if output != wanted[1:]:
            return 'output %r' % output[:200]
    elif wanted not in output:
        return 'output %r' % output[:200]
    return None


def is_polite(runner):
    for _ in range(2):
        v = runner.run('python', HELLO, stdin='there\n')
        if v.get('status') != 'success' or v.get('output') != 'hello there\n':
            return 'polite run: %s %s' % (v.get('status'), v.get('error'))
    return None


def check_program(runner, name):
    head, code = read_program(name)
    language = 'node' if name.endswith('.js') else 'python'
    outputs = []

    for _ in range(int(head.get('times', 1))):
        verdict = runner.run(language, code, head['limits'])
        wrong = complain(head, verdict)
        if wrong:
            return wrong
        outputs.append(verdict['output'])

    if 'distinct' in head and len(set(outputs)) != len(outputs):
        return 'twice the same output'
    return is_polite(runner)


def check_disks(runner):
    """A waiting child must go to one run, though its slot is adjusted first."""
    def one(i):
        v = runner.run('python', 'print(%d)\n' % i,
                       {'disk': (1 + i % 5) << 20})
        if v.get('status') == 'success' and v.get('output') == '%d\n' % i:
            return None
        return 'run %d: %s, %r' % (i, v.get('status'), v.get('output'))

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        wrong = [w for w in pool.map(one, range(120)) if w]
    return wrong[0] if wrong else is_polite(runner)


def check_neighbours(runner):
    """Right answers, and none that takes seconds, beside hostile runs."""
    names = ['flood_refused.py', 'proc_fork_bomb.py', 'out_flood.py']
    slowest = 0

    with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
        runs = [pool.submit(check_program, runner, n) for n in names]
        while not all(r.done() for r in runs):
            start = time.monotonic()
            wrong = is_polite(runner)
            if wrong:
                return wrong
            slowest = max(slowest, (time.monotonic() - start) / 2)
        wrong = [r.result() for r in runs if r.result()]
    if slowest > 2:
        return 'a polite run took %.1f s' % slowest
    return wrong[0] if wrong else None


def check_old_zygote(runner):
    """V8's memory reducer has a timer of eight seconds, set when the zygote was
    warmed up: it must not be overdue in children of a later time."""
    while time.monotonic() < BEGAN + 10:
        time.sleep(0.1)
    for _ in range(3):
        v = runner.run('node', QUIET)
        if v.get('output') != '0 collections\n':
            return '%s: %r' % (v.get('status'), v.get('output'))
    return None


def main():
    parser = argparse.ArgumentParser()
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument('--url')
    where.add_argument('--deer-flow')
    parser.add_argument('names', nargs='*')
    args = parser.parse_args()

    runner = Server(args.url) if args.url else Command(args.deer_flow)
    names = sorted(n for n in os.listdir(HERE)
                   if n.endswith(('.py', '.js')) and n != 'run.py')
    checks = [(n, lambda n=n: check_program(runner, n)) for n in names]

    if args.url:
        checks += [('different disks at once', lambda: check_disks(runner)),
                   ('neighbours', lambda: check_neighbours(runner)),
                   ('an old zygote of node',
                    lambda: check_old_zygote(runner))]
    if args.names:
        checks = [c for c in checks if any(n in c[0] for n in args.names)]

    failed = 0
    print('1..%d' % len(checks))

    for i, (name, check) in enumerate(checks, 1):
        try:
            wrong = check()
        except (OSError, ValueError, KeyError, subprocess.SubprocessError) as e:
            wrong = repr(e)
        failed += wrong is not None
        print('%sok %d - %s%s' % ('not ' if wrong else '', i, name,
                                  ': ' + str(wrong) if wrong else ''))
        sys.stdout.flush()

    print('# %d hostile programs and checks, %d failed' % (len(checks), failed))
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
