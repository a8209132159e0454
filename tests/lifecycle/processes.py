"""What runs on this machine, read from /proc: nothing is asked of anyone.

Five words, as in the code: a supervisor's tree is guard, cell init, supervisor,
and below it zygotes, slot inits and children.  The last number of NSpid tells
the levels apart: in the cell's pid namespace a process has two numbers, in a
slot's three.
"""

import collections
import os

Process = collections.namedtuple(
    'Process', 'pid ppid start state comm args nspid')


def read(path):
    try:
        with open(path, 'rb') as f:
            return f.read().decode('utf-8', 'replace')
    except OSError:
        return ''


def process(pid):
    """The process, or None when it is gone or a zombie."""
    stat = read('/proc/%d/stat' % pid)
    if not stat:
        return None
    comm = stat[stat.index('(') + 1:stat.rindex(')')]
    fields = stat[stat.rindex(')') + 2:].split()
    if fields[0] in 'ZX':
        return None
    nspid = [pid]
    for line in read('/proc/%d/status' % pid).splitlines():
        if line.startswith('NSpid:'):
            nspid = [int(n) for n in line.split()[1:]]
    args = read('/proc/%d/cmdline' % pid).rstrip('\0').split('\0')
    return Process(pid, int(fields[1]), int(fields[19]), fields[0], comm, args,
                   nspid)


def all_processes():
    pids = [int(name) for name in os.listdir('/proc') if name.isdigit()]
    return [p for p in map(process, pids) if p]


def alive(p):
    """Whether this very process, not another of the same number, lives."""
    now = process(p.pid)
    return now is not None and now.start == p.start


def children(pid, everyone=None):
    return [p for p in everyone or all_processes() if p.ppid == pid]


def descendants(pid, everyone=None):
    everyone = everyone or all_processes()
    found, queue = [], [pid]
    while queue:
        below = children(queue.pop(), everyone)
        found += below
        queue += [p.pid for p in below]
    return found


def accepted():
    """Connections that a listener with a path took, as in /proc/PID/fd."""
    rows = [line.split() for line in read('/proc/net/unix').splitlines()[1:]]
    return {'socket:[%s]' % row[6] for row in rows
            if len(row) > 7 and row[5] == '03'}


def holds(pid):
    """How much a process has open, and how many mounts it sees.  Not counted
    are connections: nginx keeps as many as it once needed at a time."""
    kept, found = accepted(), []
    for fd in os.listdir('/proc/%d/fd' % pid):
        try:
            found.append(os.readlink('/proc/%d/fd/%s' % (pid, fd)))
        except OSError:
            pass
    return {'descriptors': len([f for f in found if f not in kept]),
            'mounts': len(read('/proc/%d/mountinfo' % pid).splitlines())}


class Tree:
    """One guard and what hangs below it."""

    def __init__(self, guard, everyone=None):
        self.guard = guard
        below = descendants(guard.pid, everyone)
        self.cell = next((p for p in below if p.ppid == guard.pid), None)
        self.supervisor = next(
            (p for p in below if self.cell and p.ppid == self.cell.pid), None)
        rest = [p for p in below if p not in (self.cell, self.supervisor)]
        depth = len(guard.nspid)
        self.zygotes = [p for p in rest if len(p.nspid) == depth + 1]
        self.slot_inits = [p for p in rest
                           if len(p.nspid) == depth + 2 and p.nspid[-1] == 1]
        self.children = [p for p in rest
                         if len(p.nspid) == depth + 2 and p.nspid[-1] != 1]
        self.all = [guard] + below


def guards(marker, everyone=None):
    """Guards whose configuration names this directory."""
    everyone = everyone or all_processes()
    ours = [p for p in everyone
            if 'supervise' in p.args and any(marker in a for a in p.args)]
    pids = {p.pid for p in ours}
    return sorted((p for p in ours if p.ppid not in pids),
                  key=lambda p: p.start)
