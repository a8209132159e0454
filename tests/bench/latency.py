"""One run at a time: from the request's first byte to the answer's last."""

import json
import statistics
import time

import measure
import peers
import programs
import server

# what no zygote can change any more, so that the interpreter is started anew
COLD_START = {'LANG': 'C.UTF-8'}


def rows_of(program, bench, containers, by_exec):
    """Peers, and the sandbox: by exec, forked on demand, from standby."""
    peer = peers.Peers(program)
    rows = [measure.Row(name, run) for name, run in peer.rows(containers)]
    bench.missing.update(peer.missing)
    if by_exec:
        rows.append(measure.Row('sandbox, fork + exec', bench.drained.ready(
            program, env=COLD_START), bench.drained))
    rows.append(measure.Row('sandbox, fork on demand',
                            bench.drained.ready(program), bench.drained))
    rows.append(measure.Row('sandbox, standby child',
                            bench.full.ready(program), bench.full))
    return peer, rows


def case(bench, program, n, containers=False, by_exec=False, cpu_runs=None,
         pause=measure.PAUSE_S):
    peer, rows = rows_of(program, bench, containers, by_exec)
    try:
        measure.interleave(rows, n, cpu_runs, pause)
    finally:
        peer.close()
    return measure.describe(program.case, program.language, rows)


def hello(bench):
    return (case(bench, programs.HELLO['python'], bench.n(120), True, True)
            + case(bench, programs.HELLO['node'], bench.n(60), True, True))


def imports(bench):
    return [row for program in programs.IMPORTS
            for row in case(bench, program, bench.n(30), by_exec=True)]


def streams(bench):
    found = []
    for program in programs.STREAMS:
        found += case(bench, program, bench.n(30))
    return found


def steady(bench):
    found = []
    for program in programs.STEADY:
        n = bench.n(25 if program.language == 'python' else 13)
        found += case(bench, program, n, cpu_runs=2, pause=measure.REFILL_S)
    return found


def print_rows(rows):
    cells = []
    for r in rows:
        cells.append((r['case'], r['language'], r['variant'],
                      '%.2f' % r['median_ms'], '%.2f' % r['p99_ms'],
                      '-' if r['cpu_ms'] is None else '%.2f' % r['cpu_ms'],
                      measure.as_ratio(r['ratio']),
                      '%.1f' % r['own_ms'] if 'own_ms' in r else '',
                      '%.3f' % r['own_ratio'] if 'own_ratio' in r else ''))
    head = ['case', 'language', 'variant', 'median ms', 'p99 ms',
            'CPU ms a run', 'to cold start']
    own = any(row[7] for row in cells)
    if own:
        head += ['its own work ms', 'to plain']
    return measure.table(head, [row if own else row[:7] for row in cells])


def echo(bench, n=400):
    """nginx alone: what no sandbox behind it can be faster than."""
    asked = b'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
    times = []
    for i in range(n):
        start = time.perf_counter()
        bench.full.exchange(asked)
        times.append((time.perf_counter() - start) * 1000)
    return {'median_ms': statistics.median(times),
            'p99_ms': measure.percentile(times, 0.99)}


def violation(bench):
    """From just before the violating allocation to the answer's last byte,
    and a hello in turn, for comparison."""
    asked = server.request('python', programs.VIOLATION)
    hello_once = bench.full.ready(programs.HELLO['python'])
    times, hellos = [], []
    for i in range(bench.n(120) + measure.WARM_UP):
        time.sleep(0.01)
        v = json.loads(bench.full.exchange(asked))
        end = time.monotonic_ns()
        if v['status'] != 'memory_exceeded':
            raise SystemExit('wrong answer: %r' % v)
        time.sleep(0.01)
        start = time.perf_counter()
        hello_once()
        if i >= measure.WARM_UP:
            times.append((end - int(v['output'])) / 1e6)
            hellos.append((time.perf_counter() - start) * 1000)
    return {'median_ms': statistics.median(times),
            'p99_ms': measure.percentile(times, 0.99),
            'hello_p99_ms': measure.percentile(hellos, 0.99)}


def numpy(bench):
    """What `import numpy` takes, imported once in the zygote or in each run."""
    program = programs.Program('import numpy', 'python',
                               'import numpy\nprint(1+1)\n', '2\n')
    try:
        peers.spawn([*peers.COLD['python'], '-c', 'import numpy'])
    except SystemExit:
        return None
    ahead = bench.server('sandbox_preload python numpy;')
    try:
        ahead.settle()
        rows = [measure.Row('plain', bench.full.ready(program)),
                measure.Row('preloaded', ahead.ready(program)),
                measure.Row('hello', ahead.ready(programs.HELLO['python']))]
        measure.interleave(rows, bench.n(30))
        times = [statistics.median(row.wall) for row in rows]
    finally:
        bench.end(ahead)
    return {'plain_ms': times[0], 'preloaded_ms': times[1],
            'hello_ms': times[2], 'ratio': times[1] / times[0]}
