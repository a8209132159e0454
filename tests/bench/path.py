"""Where a hello's time goes, from the kernel's own trace.

Only root sees it: an instance of tracefs of our own, with the system calls of
nginx's worker, the supervisor, the zygotes and their children and the wake-ups
among them, in the clock that this process reads, too.  What lies between two
marks is a row.  The end of a program is a wake-up of the supervisor by the
child: its exit_group is held up before the kernel traces it.  Tracing costs a
fraction of a microsecond a call: the median with and without it is printed.
"""

import os
import re
import statistics
import time

import measure
import programs

TRACEFS = '/sys/kernel/tracing'
EVENTS = ('raw_syscalls/sys_enter', 'raw_syscalls/sys_exit',
          'sched/sched_waking')
LINE = re.compile(r'-(\d+) +\[\d+\] \S+ +(\d+\.\d+): (?:sys_(enter|exit): '
                  r'NR (-?\d+)|sched_waking: .* pid=(\d+) )')

READ, WRITE, WRITEV, SENDTO, RECVFROM = 0, 1, 20, 44, 45
SENDMSG, RECVMSG = 46, 47
WAITS = (232, 281, 441)         # epoll_wait, epoll_pwait, epoll_pwait2
SENDS = (WRITE, WRITEV, SENDTO, SENDMSG)
RECEIVES = (READ, RECVFROM, RECVMSG)

ROWS = ('request to the worker: a send, a wake-up',
        'request parsed, job packed',
        'frame to the supervisor: a send, a wake-up',
        'frame checked, child found, its limits set',
        'hand-over: a send, a wake-up',
        'job read, program compiled, run until its last write',
        'that write, and the interpreter\'s finish',
        'exit_group\'s notification: a wake-up',
        'output drained, verdict, answer packed',
        'answer to the worker: a send, a wake-up',
        'answer read, made JSON',
        'answer to the client: a send, a wake-up')


def put(path, text, mode='w'):
    with open(path, mode) as f:
        f.write(text)


class Trace:
    """An instance of tracefs: nobody else's tracing is touched."""

    def __init__(self, pids):
        self.dir = '%s/instances/bench-%d' % (TRACEFS, os.getpid())
        os.mkdir(self.dir)
        put(self.dir + '/buffer_size_kb', '8192')
        put(self.dir + '/trace_clock', 'mono')
        put(self.dir + '/options/event-fork', '1')
        put(self.dir + '/set_event_pid', ' '.join(map(str, pids)))
        for event in EVENTS:
            put('%s/events/%s/enable' % (self.dir, event), '1')

    def read(self):
        """(seconds, pid, enter, exit or waking, of what), by time."""
        put(self.dir + '/tracing_on', '0')
        found = []
        with open(self.dir + '/trace', errors='replace') as f:
            for line in f:
                m = LINE.search(line)
                if m:
                    found.append((float(m[2]), int(m[1]), m[3] or 'waking',
                                  int(m[4] or m[5])))
        put(self.dir + '/trace', '')
        put(self.dir + '/tracing_on', '1')
        return found

    def close(self):
        os.rmdir(self.dir)


class Lost(Exception):
    """The trace of a run has not what it should have."""


def first(events, after, pid, kind, of):
    for i in range(after + 1, len(events)):
        if events[i][1] == pid and events[i][2] == kind and events[i][3] in of:
            return i
    raise Lost


def last(events, before, after, pid, kind, of):
    for i in range(before - 1, after, -1):
        if events[i][1] == pid and events[i][2] == kind and events[i][3] in of:
            return i
    raise Lost


def find_child(events, after, known):
    """The first that hears something once the job was handed over."""
    for i in range(after + 1, len(events)):
        if (events[i][1] not in known and events[i][2] == 'exit'
                and events[i][3] in RECEIVES):
            return i
    raise Lost


def find_marks(events, worker, sup, known):
    """The times between the rows."""
    at = [first(events, -1, worker, 'exit', WAITS)]
    at.append(first(events, at[-1], worker, 'enter', SENDS))
    at.append(first(events, at[-1], sup, 'exit', WAITS))
    at.append(first(events, at[-1], sup, 'enter', (SENDMSG,)))
    at.append(find_child(events, at[-1], known))
    child = events[at[-1]][1]
    answer = first(events, at[-1], sup, 'enter', (SENDTO,))
    at.append(last(events, answer, at[-1], child, 'enter', (WRITE, WRITEV)))
    written = first(events, at[-1], child, 'exit', (WRITE, WRITEV))
    at.append(last(events, answer, written, child, 'waking', (sup,)))
    at.append(first(events, at[-1], sup, 'exit', WAITS))
    if at[-1] > answer:
        raise Lost
    at.append(answer)
    at.append(first(events, at[-1], worker, 'exit', WAITS))
    at.append(first(events, at[-1], worker, 'enter', SENDS))
    return [events[i][0] for i in at]


def split(run, trace, who, n):
    """For each run that could be read the lengths of its rows, in µs."""
    found, walls = [], []
    for _ in range(n):
        time.sleep(0.02)
        trace.read()
        start = time.monotonic()
        run()
        end = time.monotonic()
        walls.append((end - start) * 1e6)
        events = [e for e in trace.read() if start <= e[0] <= end]
        try:
            points = [start, *find_marks(events, *who), end]
        except Lost:
            continue
        found.append([(b - a) * 1e6 for a, b in zip(points, points[1:])])
    return found, walls


def measure_one(one, language, n):
    program = programs.HELLO[language]
    run = one.ready(program)
    one.settle()
    plain = measure.Row('hello', run)
    measure.interleave([plain], n)
    worker = one.workers[0].pid
    sup = one.tree.supervisor.pid
    zygotes = [p.pid for p in one.tree.zygotes]
    known = {worker, sup, *zygotes, *(p.pid for p in one.tree.slot_inits)}
    trace = Trace([*known, *(p.pid for p in one.tree.children)])
    try:
        found, walls = split(run, trace, (worker, sup, known), n)
    finally:
        trace.close()
    if not found:
        return {'missing': 'no run could be read from the trace'}
    return {'rows': [(what, statistics.median(column))
                     for what, column in zip(ROWS, zip(*found))],
            'runs': len(found), 'traced_us': statistics.median(walls),
            'plain_us': statistics.median(plain.wall) * 1000}


def measure_both(bench):
    if not os.access(TRACEFS + '/instances', os.W_OK):
        return {'missing': 'no tracefs at %s, or no right to it' % TRACEFS}
    one = bench.server('sandbox_standby auto;', workers=1)
    try:
        found = {language: measure_one(one, language, bench.n(60))
                 for language in programs.HELLO}
        asked = b'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
        row = measure.Row('echo', lambda: one.exchange(asked) and None)
        measure.interleave([row], 60)
        found['echo_us'] = statistics.median(row.wall) * 1000
    finally:
        bench.end(one)
    return found


def print_both(found):
    if 'missing' in found:
        return 'not measured: ' + found['missing']
    languages = [x for x in found if x != 'echo_us']
    for language in languages:
        if 'missing' in found[language]:
            return '%s: %s' % (language, found[language]['missing'])
    rows = [(names[0][0], *('%.0f' % us for _, us in names))
            for names in zip(*(found[x]['rows'] for x in languages))]
    rows.append(('sum of the medians', *(
        '%.0f' % sum(us for _, us in found[x]['rows']) for x in languages)))
    rows.append(('median of the whole, traced', *(
        '%.0f' % found[x]['traced_us'] for x in languages)))
    rows.append(('median of the whole, not traced', *(
        '%.0f' % found[x]['plain_us'] for x in languages)))
    rows.append(('the floor: the same worker\'s `return 200`', *(
        '%.0f' % found['echo_us'] for x in languages)))
    return measure.table(('until', *('%s µs' % x for x in languages)), rows)
