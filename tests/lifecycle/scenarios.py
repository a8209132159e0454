"""The scenarios, one function each; the first line of its text is its name.

Reload, USR1, USR2 and QUIT lose no run.  What dies by force ends its runs at
once, with an answer where there is still someone to give it.
"""

import os
import signal
import time

from box import Failure, wait_for
import processes
from traffic import Traffic

SCENARIOS = {}
BOTH = ('python', 'node')       # a zygote's child, and the exec path


def scenario(function):
    SCENARIOS[function.__name__] = function
    return function


def in_flight(box, seconds=1.5):
    return [box.run(language, seconds).started() for language in BOTH]


def expect(runs, *wanted):
    for run in runs:
        run.expect(*wanted)


def same(what, a, b):
    if a != b:
        raise Failure('%s: %r, then %r' % (what, a, b))


def counted(box, n):
    """A worker counts behind its answer, and another one may be asked."""
    def has():
        try:
            return box.metric('sandbox_exit_code{code="0"}') == n
        except Failure:
            return False            # none yet
    wait_for('%d ends with code 0 are counted' % n, has)


# Signals that must lose nothing.

@scenario
def start_quit(box):
    """start, runs, QUIT with runs in flight: they finish, all is gone"""
    box.start()
    tree = box.tree()
    [name] = box.sockets()
    mode = os.stat(box.path(name)).st_mode & 0o777
    same('mode of the socket', 0o600, mode)
    for language in BOTH:
        box.check(language)
    counted(box, 2)
    runs = in_flight(box)
    box.signal(signal.SIGQUIT)
    expect(runs, '200 success')
    box.all_gone()
    for run in runs:
        run.gone()
    if processes.alive(tree.guard):
        raise Failure('the guard lives on')


@scenario
def test_configuration(box):
    """nginx -t beside a running one: nothing starts, nothing ends"""
    box.start()
    tree, sockets = box.tree(), box.sockets()
    runs = in_flight(box)
    same('nginx -t', 0, box.call('-t').returncode)
    same('sockets', sockets, box.sockets())
    same('guard', tree.guard.pid, box.tree().guard.pid)
    expect(runs, '200 success')
    box.quit()


@scenario
def reopen(box):
    """USR1: the supervisor, too, writes to the new log"""
    box.start()
    tree = box.tree()
    runs = in_flight(box)
    os.rename(box.path('logs/error.log'), box.path('logs/error.log.1'))
    box.signal(signal.SIGUSR1)
    wait_for('new log', lambda: os.path.exists(box.path('logs/error.log')))
    expect(runs, '200 success')
    same('guard', tree.guard.pid, box.tree().guard.pid)
    box.kill(tree.supervisor)       # the guard has something to say
    wait_for('the guard\'s line', lambda: box.log().count('deer-flow'))
    box.check()
    box.quit()


@scenario
def reload(box):
    """HUP: old runs end on the old supervisor, new ones go to the new"""
    box.start()
    box.check()
    old = box.tree()
    runs = in_flight(box, 2)
    box.signal(signal.SIGHUP)
    wait_for('second supervisor', lambda: len(box.trees()) == 2)
    wait_for('new workers', lambda: len(box.workers()) > 2)
    box.check()
    expect(runs, '200 success')
    new = box.tree()
    if new.guard.pid == old.guard.pid:
        raise Failure('no new supervisor')
    same('sockets', 1, len(box.sockets()))
    box.check('node')
    counted(box, 5)
    box.quit()


@scenario
def reload_often(box):
    """five HUPs in a row: one generation is left, no run is lost"""
    box.start()
    runs = in_flight(box, 2)
    for _ in range(5):
        box.signal(signal.SIGHUP)
        time.sleep(0.15)
    runs += in_flight(box, 0.5)
    expect(runs, '200 success')
    box.tree()
    same('sockets', 1, len(box.sockets()))
    box.check()
    box.quit()


@scenario
def reload_broken(box):
    """HUP with a broken configuration: the old generation goes on untouched"""
    box.start()
    tree, workers = box.tree(), box.workers()
    runs = in_flight(box)
    box.configure(extra='no_such_directive on;\n')
    box.signal(signal.SIGHUP)
    wait_for('complaint', lambda: 'no_such_directive' in box.log())
    box.check()
    expect(runs, '200 success')
    same('guard', tree.guard.pid, box.tree().guard.pid)
    same('workers', workers, box.workers())
    box.configure()
    box.quit()


@scenario
def reload_without(box):
    """HUP to a configuration without sandbox: the supervisor leaves"""
    box.start()
    runs = in_flight(box)
    box.configure(sandbox='')
    box.signal(signal.SIGHUP)
    expect(runs, '200 success')
    wait_for('no supervisor', lambda: not box.trees())
    same('sockets', [], box.sockets())
    box.configure()
    box.signal(signal.SIGHUP)
    box.tree()
    wait_for('a run', lambda: box.run().outcome() == '200 success')
    box.quit()


@scenario
def reload_unloaded(box):
    """HUP to a configuration without the module: the supervisor leaves"""
    box.start()
    runs = in_flight(box)
    with open(box.path('nginx.conf')) as f:
        lines = [line for line in f.read().splitlines(True)
                 if 'sandbox_' not in line and 'sandbox any' not in line
                 and 'load_module' not in line]
    with open(box.path('nginx.conf'), 'w') as f:
        f.writelines(lines)
    box.signal(signal.SIGHUP)
    expect(runs, '200 success')
    wait_for('no supervisor', lambda: not box.trees())
    same('sockets', [], box.sockets())
    box.configure()
    box.signal(signal.SIGHUP)
    box.tree()
    wait_for('a run', lambda: box.run().outcome() == '200 success')
    box.quit()


@scenario
def upgrade(box):
    """USR2 and QUIT of the old master: its runs finish, the new one serves"""
    box.start()
    old = box.tree()
    runs = in_flight(box, 3)
    box.signal(signal.SIGUSR2)
    wait_for('old pid file',
             lambda: os.path.exists(box.path('nginx.pid.oldbin')))
    wait_for('second supervisor', lambda: len(box.trees()) == 2)
    new_master = wait_for('new master',
                          lambda: box.pid() != box.master and box.pid())
    wait_for('new workers', lambda: len(box.workers(new_master)) == 2)
    box.signal(signal.SIGQUIT)
    box.check()
    expect(runs, '200 success')
    new = box.tree()
    if new.guard.pid == old.guard.pid:
        raise Failure('the old supervisor serves the new master')
    box.check()
    box.master = new_master
    box.quit()


# What ends runs on purpose.

@scenario
def term(box):
    """TERM: connections closed, runs ended, all gone at once"""
    box.start()
    runs = in_flight(box, 15)
    began = time.monotonic()
    box.signal(signal.SIGTERM)
    expect(runs, 'closed')
    box.all_gone()
    if time.monotonic() - began > 8:
        raise Failure('slow')


@scenario
def client_gone(box):
    """a client that goes away ends its run, and only its run"""
    box.start()
    stays = box.run('python', 2).started()
    for language in BOTH:
        goes = box.run(language, 15).started()
        goes.abort()
        goes.gone()
    stays.expect('200 success')
    box.check()
    box.quit()


# Deaths.

@scenario
def kill_worker(box):
    """kill -9 of workers: their runs end, new workers take over"""
    box.start()
    tree = box.tree()
    runs = in_flight(box, 15)
    for worker in box.workers():
        box.kill(worker)
    expect(runs, 'closed')
    for run in runs:
        run.gone()
    wait_for('new workers', lambda: len(box.workers()) == 2)
    box.check()
    same('guard', tree.guard.pid, box.tree().guard.pid)
    box.quit()


@scenario
def kill_supervisor(box):
    """kill -9 of the supervisor: 5xx, no survivor, the next one serves"""
    box.start()
    tree = box.tree()
    runs = in_flight(box, 15)
    box.kill(box.tree().supervisor)
    expect(runs, '502 internal_error', '500 internal_error')
    for run in runs:
        run.gone()
    wait_for('no survivor', lambda: not [p for p in tree.all[1:]
                                         if processes.alive(p)], 5)
    box.check()
    same('guard', tree.guard.pid, box.tree().guard.pid)
    same('starts', 2, box.metric('sandbox_supervisor_starts'))
    box.quit()


@scenario
def kill_cell(box):
    """kill -9 of the cell's init: as with the supervisor"""
    box.start()
    tree = box.tree()
    runs = in_flight(box, 15)
    box.kill(tree.cell)
    expect(runs, '502 internal_error', '500 internal_error')
    for run in runs:
        run.gone()
    box.check()
    box.quit()


@scenario
def kill_guard(box):
    """kill -9 of the guard: all below dies, 5xx until a reload, then well"""
    box.start()
    tree = box.tree()
    runs = in_flight(box, 15)
    box.kill(tree.guard)
    expect(runs, '502 internal_error', '500 internal_error')
    for run in runs:
        run.gone()
    wait_for('all of it dead',
             lambda: not [p for p in tree.all if processes.alive(p)], 5)
    box.run().expect('502 internal_error', '503 internal_error')
    same('other locations', 200, box.get('/plain')[0])
    box.signal(signal.SIGHUP)
    box.tree()
    wait_for('a run', lambda: box.run().outcome() == '200 success')
    same('stale socket swept', 1, len(box.sockets()))
    box.quit()


@scenario
def kill_zygote(box):
    """kill -9 of zygotes: runs in flight finish, new ones take another path"""
    box.start()
    wait_for('zygotes', lambda: box.tree().zygotes)
    runs = in_flight(box, 1.5)
    for zygote in box.tree().zygotes:
        box.kill(zygote)
    for language in BOTH:
        box.check(language)
    expect(runs, '200 success')
    wait_for('zygotes again', lambda: box.tree().zygotes)
    box.check()
    box.quit()


def warmed(box):
    """The zygotes, when each serves its language."""
    for language in BOTH:
        wait_for('zygote of ' + language, lambda: box.metric(
            'sandbox_zygote_up{language="%s"}' % language) == 1)
    return box.tree().zygotes


def at_rest(box, zygotes):
    """Until there are as many zygotes as ever, and a child of each waits."""
    wait_for('one zygote of a kind',
             lambda: len(box.tree().zygotes) == len(zygotes))
    for language in BOTH:
        wait_for('standby of ' + language, lambda: box.metric(
            'sandbox_standby{language="%s"}' % language) == 1)


@scenario
def renew_zygote(box):
    """renewals under load, one with its zygote killed: no run is lost"""
    box.start(http='sandbox_zygote_renew runs=30;')
    renewals = 'sandbox_zygote_renewals{language="python"}'
    zygotes = warmed(box)
    supervisor = box.tree().supervisor
    with Traffic(box, clients=3) as traffic:
        wait_for('a renewal', lambda: box.metric(renewals) >= 1)
    same('other outcomes', [], traffic.failures)
    at_rest(box, zygotes)
    held = processes.holds(supervisor.pid)
    with Traffic(box, clients=3) as traffic:
        for zygote in box.tree().zygotes:
            box.kill(zygote)
        wait_for('more renewals', lambda: box.metric(renewals) >= 3, 60)
    same('other outcomes', [], traffic.failures)
    if len(traffic.secrets) < 3 or len(traffic.addresses) < 3:
        raise Failure('runs are alike: %d secrets, %d addresses' % (
            len(traffic.secrets), len(traffic.addresses)))
    at_rest(box, zygotes)
    for what, before in held.items():
        wait_for('no more %s than %d' % (what, before),
                 lambda: processes.holds(supervisor.pid)[what] <= before)
    same('supervisor', supervisor.pid, box.tree().supervisor.pid)
    box.quit()


@scenario
def renew_failing(box):
    """kill -9 of each new zygote: the old one serves on; the log says so once"""
    box.start(http='sandbox_zygote_renew runs=5;')
    renewals = 'sandbox_zygote_renewals{language="python"}'
    old = warmed(box)
    pids = {zygote.pid for zygote in old}
    with Traffic(box, clients=1) as traffic:
        for _ in range(2):
            new = wait_for('a new zygote', lambda: [
                z for z in box.tree().zygotes if z.pid not in pids
                and z.comm.startswith('deer-flow-p')])
            box.kill(new[0])
        same('renewals', 0, box.metric(renewals))
        same('old zygote', [True], [processes.alive(z) for z in old
                                    if z.comm.startswith('deer-flow-p')])
        wait_for('a renewal', lambda: box.metric(renewals) >= 1, 30)
    same('other outcomes', [], traffic.failures)
    same('lines of it', 1, box.log().count('zygote 1 cannot be renewed'))
    same('lines of its end', 1, box.log().count('zygote 1 can be renewed'))
    for _ in range(5):
        box.check('node')
    wait_for('the other language', lambda: box.metric(
        renewals.replace('python', 'node')) >= 1)
    box.check('node')
    box.quit()


@scenario
def kill_slot_init(box):
    """kill -9 of slot inits: internal_error for their runs, then well"""
    box.start()
    tree = box.tree()
    runs = in_flight(box, 15)
    for init in box.tree().slot_inits:
        box.kill(init)
    expect(runs, '500 internal_error')
    for run in runs:
        run.gone()
    same('supervisor', tree.supervisor.pid, box.tree().supervisor.pid)
    wait_for('slots again', lambda: box.tree().slot_inits)
    for language in BOTH:
        box.check(language)
    box.quit()


@scenario
def kill_child(box):
    """kill -9 of a child that has a run but not its job yet: another runs it"""
    box.start(sandbox='location = /run { sandbox any; '
                      'sandbox_disk 16m max=32m; }')

    def stopped(stops, see=True, **limits):
        at_rest(box, warmed(box))
        before, tree = lines(), box.tree()
        for p in stops(tree):
            box.signal(signal.SIGSTOP, p.pid)
        try:
            runs = [box.run(language, **limits) for language in BOTH]
            if see:
                wait_for('both have a child', lambda: box.metric(
                    'sandbox_slots_busy') == len(BOTH))
            else:
                time.sleep(0.5)     # if they come later, there is no child
            for child in tree.children:
                box.kill(child)
        finally:
            for p in stops(tree):
                box.signal(signal.SIGCONT, p.pid)
        expect(runs, '200 success')
        if see:
            same('a line for each', True, lines() - before >= len(BOTH))

    def lines():
        return box.log().count('a child died before it took the job')

    # it waits for the slot's other disk
    stopped(lambda tree: tree.slot_inits, disk='20m')
    # it has not read the job
    stopped(lambda tree: [p for p in tree.children if processes.alive(p)])
    # it is dead when it is given the job: the supervisor hears of the run first
    for _ in range(3):
        stopped(lambda tree: [tree.supervisor], see=False)
    box.quit()


@scenario
def kill_master(box):
    """kill -9 of the master: workers serve on; with the last all is gone"""
    box.start()
    runs = in_flight(box)
    workers = box.workers()
    box.note()
    box.kill(processes.process(box.master))
    box.check()
    expect(runs, '200 success')
    for worker in workers:
        box.signal(signal.SIGQUIT, worker.pid)
    box.all_gone()


@scenario
def kill_all(box):
    """kill -9 of guard, master and workers: the next start sweeps"""
    box.start()
    tree = box.tree()
    runs = in_flight(box, 15)
    workers = box.workers()
    for p in [tree.guard, processes.process(box.master)] + workers:
        box.kill(p)
    expect(runs, 'closed', '502 internal_error')
    for run in runs:
        run.gone()
    same('stale socket', 1, len(box.sockets()))
    box.start()
    same('swept', 1, len(box.sockets()))
    box.check()
    box.quit()


# Other ways to run nginx.

@scenario
def daemon_off(box):
    """daemon off: start, reload, QUIT, with runs in flight"""
    box.start(daemon=False)
    box.tree()
    box.check()
    runs = in_flight(box, 2)
    box.signal(signal.SIGHUP)
    wait_for('second supervisor', lambda: len(box.trees()) == 2)
    expect(runs, '200 success')
    box.tree()
    runs = in_flight(box)
    box.signal(signal.SIGQUIT)
    expect(runs, '200 success')
    box.all_gone()


@scenario
def interrupt(box):
    """daemon off and SIGINT, as Ctrl-C sends it: all gone"""
    box.start(daemon=False)
    runs = in_flight(box, 15)
    box.signal(signal.SIGINT)
    expect(runs, 'closed')
    box.all_gone()


@scenario
def single_process(box):
    """master_process off: runs, then QUIT, which nginx then takes as TERM"""
    box.start(master=False)
    box.tree()
    for language in BOTH:
        box.check(language)
    runs = in_flight(box, 15)
    box.signal(signal.SIGQUIT)
    expect(runs, 'closed')
    box.all_gone()


@scenario
def single_process_foreground(box):
    """daemon off, master_process off: runs, then TERM"""
    box.start(daemon=False, master=False)
    box.check()
    runs = in_flight(box, 15)
    box.signal(signal.SIGTERM)
    expect(runs, 'closed')
    box.all_gone()


@scenario
def no_program(box):
    """a deer-flow that cannot be executed: nginx serves, its locations do not"""
    program = box.path('program')
    with open(program, 'w') as f:
        f.write('#!/no/such/interpreter\n')
    os.chmod(program, 0o755)
    box.start(command=program)
    box.run().expect('503 internal_error')
    same('other locations', 200, box.get('/plain')[0])
    if 'starting "%s" failed' % program not in box.log():
        raise Failure('nothing in the log')
    same('sockets', [], box.sockets())
    box.configure()
    box.signal(signal.SIGHUP)
    wait_for('a run', lambda: box.run().outcome() == '200 success')
    box.quit()
