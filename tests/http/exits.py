"""The ends of runs, which are answered before the child is torn down, at the
moment of its exit_group.  Each rule that this rests on has something here that
fails without it:

    two threads in exit_group, or one that is      of_threads: the supervisor
      not the first; a thread that still writes;     compares the end with its
      the last one ends by exit; a code above        answer, and logs what
      eight bits                                     differs
    CPU time is read before the end                of_threads: the program's own
                                                     count
    killed while nobody listens                    unheard
    the supervisor dies; a second thread is left   unheard
    the dying child has the processor last         dying_last

Others are elsewhere: WAIT_KILLABLE_RECV, tests/zygote ("while its end is held
up"); killed between the event and its receipt, there, too; clear_refs,
tests/hostile/proc_clear_refs.py; the timers of a Node zygote, the last check of
tests/hostile; deaths by signal, complete_output of cases.py.
"""

import os
import signal
import threading
import time

from cases import MARK, case
from nginx import Failure, parallel, processes, same, wait_for

LIBC = 'import ctypes, os, threading, time\nlibc = ctypes.CDLL(None)\n'

# Can be found by its name, and goes on when it is told to.
TOLD = LIBC + '''
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
libc.prctl(15, b"%s", 0, 0, 0)
%s
signal.sigwait({signal.SIGUSR1})
libc.syscall(231, 3)
'''
EXIT_GROUP = 231

# Two at once; either is right.
RACE = LIBC + '''
both = threading.Barrier(2)
def end(code):
    both.wait()
    libc.syscall(231, code)
threading.Thread(target=end, args=(7,)).start()
end(5)
'''

WRITER = LIBC + '''
def write():
    while True:
        libc.write(1, b"x", 1)
threading.Thread(target=write, daemon=True).start()
libc.usleep(2000)
libc.syscall(231, 3)
'''

BY_THREAD = LIBC + '''
def end():
    libc.write(1, b"end", 3)
    libc.syscall(231, 6)
threading.Thread(target=end).start()
%s
'''

BUSY = LIBC + '''
%s
start = time.process_time()
while time.process_time() < start + 0.1:
    pass
os.write(1, b"%%f" %% (time.process_time() - start))
libc.syscall(231, 0)
'''
IDLE_THREAD = 'threading.Thread(target=time.sleep, args=(9,), daemon=1).start()'

# how, code, exit codes that are right, output or None, times
ENDS = (
    ('two threads', RACE, (5, 7), '', 15),
    ('a thread that writes', WRITER, (3,), None, 15),
    ('by another thread', BY_THREAD % 'time.sleep(9)', (6,), 'end', 3),
    ('the first thread has ended', BY_THREAD % 'libc.syscall(60, 1)', (6,),
     'end', 3),
    ('exit of the only thread', LIBC + 'libc.write(1, b"end", 3)\n'
     'libc.syscall(60, 9)', (9,), 'end', 3),
    ('a code of 25 bits', LIBC + 'libc.syscall(231, 0x1234567)', (0x67,), '',
     3),
)


def end_of(site, row):
    how, code, right, output, _ = row
    verdict = site.run(code).verdict
    if verdict.get('exit_code') not in right:
        raise Failure('%s: %r' % (how, verdict))
    if output is not None:
        same(how, output, verdict['output'])


def busy(site, others):
    """No less CPU time than it has counted itself, no more than has passed."""
    usage = site.run(BUSY % others, limits={'timeout': '20s'}).expect()
    counted, used = float(usage['output']) * 1000, usage['usage']
    if not counted <= used['cpu_ms'] <= used['wall_ms']:
        raise Failure('%g ms of CPU time: %r' % (counted, used))


def of_threads(site):
    """What threads and odd calls make of an end is what is answered."""
    rows = [row for row in ENDS for _ in range(row[-1])]
    parallel(2, lambda row: end_of(site, row), rows)
    busy(site, '')
    busy(site, IDLE_THREAD)


def find(name):
    """The process of a run."""
    return wait_for('a run', lambda: next(
        (p for p in processes.all_processes() if p.comm == name), None))


def in_call(pid, number):
    return processes.read('/proc/%d/syscall' % pid).split(' ')[0] == str(number)


def held_up(site, name, code):
    """A run at its end, when the supervisor has stopped; with its process, and
    the list its answer goes into."""
    answers = []

    def run():
        answers.append(site.run(code))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    child = find(name)
    supervisor = site.tree().supervisor.pid
    os.kill(supervisor, signal.SIGSTOP)
    os.kill(child.pid, signal.SIGUSR1)
    try:
        wait_for('its end', lambda: in_call(child.pid, EXIT_GROUP))
    except Failure:
        os.kill(supervisor, signal.SIGCONT)
        raise
    return child, supervisor, thread, answers


def unheard(site):
    """Ends that nobody hears: the child is killed first, or the supervisor."""
    name = MARK + 'end'
    child, supervisor, thread, answers = held_up(site, name,
                                                 TOLD % (name, ''))
    os.kill(child.pid, signal.SIGKILL)
    wait_for('the killed one is gone', lambda: not processes.alive(child))
    os.kill(supervisor, signal.SIGCONT)
    thread.join()
    same('signal', 'SIGKILL', answers[0].expect(
        said='200 signaled')['signal'])
    parallel(4, lambda _: site.run('print(4)').expect('4\n'), range(8))

    # unheard, exit_group fails, and exit leaves the second thread
    child, supervisor, thread, answers = held_up(
        site, name, TOLD % (name, IDLE_THREAD.replace('(9,)', '(99,)')))
    os.kill(supervisor, signal.SIGKILL)
    wait_for('its child is gone', lambda: not processes.alive(child))
    thread.join()
    if answers[0].code < 500:
        raise Failure('answered by nobody: ' + answers[0].said())
    wait_for('another supervisor',
             lambda: site.run('print(5)').said() == '200 success')


# Many small pages take long to tear down.
HEAVY = '''
import mmap
pages = mmap.mmap(-1, 80 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
pages.madvise(15)       # MADV_NOHUGEPAGE
pages[::4096] = bytes(len(pages) // 4096)
'''


def policies(pid):
    """The scheduling policies that a process has until it is reaped."""
    seen = []
    while True:
        stat = processes.read('/proc/%d/stat' % pid)
        if not stat:
            return seen
        seen.append(int(stat[stat.rindex(')') + 2:].split()[38]))


def dying_last(site):
    """After its answer a child has the lowest claim on a processor."""
    name = MARK + 'heavy'
    seen = []
    for _ in range(10):
        thread = threading.Thread(target=lambda: site.run(
            TOLD % (name, HEAVY)).expect(said='200 error'))
        thread.start()
        child = find(name)
        os.kill(child.pid, signal.SIGUSR1)
        thread.join()
        seen += policies(child.pid)[-1:]
        if seen:
            break
    same('the last policy that was seen', [os.SCHED_IDLE], seen)


@case
def ends(site):
    """what answers before the end of a child rest on: each rule"""
    site.start()
    of_threads(site)
    dying_last(site)
    same('alerts', [], [line for line in site.log().splitlines()
                        if '[alert]' in line])
    unheard(site)
