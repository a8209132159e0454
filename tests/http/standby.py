"""How many children are ready: at rest, and beside runs."""

import concurrent.futures
import os
import re
import time

import processes
from cases import case
from nginx import SCALE, Failure, same, wait_for


def standing_by(site, want):
    for language in ('python', 'node'):
        name = 'sandbox_standby{language="%s"}' % language
        wait_for('%s is %d' % (name, want), lambda: site.metric(name) == want)


@case
def standby_by_processors(site):
    """two children per processor and four ready, but no more than slots"""
    cpus = len(os.sched_getaffinity(0))
    site.start('')
    standing_by(site, min(2 * cpus + 4, 4 * cpus))


@case
def standby_by_slots(site):
    """no more children are ready than there are slots"""
    site.start('sandbox_slots 3;')
    standing_by(site, 3)


@case
def standby_beside_runs(site):
    """of two processors: beside one run no child is made anew while half of
    the pool is there, beside three runs up to half; after them, all"""
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(cpus)[:2])
    try:
        site.start('sandbox_slots 8; sandbox_standby 4;')
    finally:
        os.sched_setaffinity(0, cpus)
    ready = 'sandbox_standby{language="python"}'
    code = 'import time\ntime.sleep(%g)\n' % (2 * SCALE)
    for count, left in (1, 3), (3, 2):
        standing_by(site, 4)
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            runs = [pool.submit(site.run, code, limits={'timeout': '30s'})
                    for _ in range(count)]
            wait_for('all run', lambda: site.metric('sandbox_slots_busy')
                     == count)
            wait_for('%d ready' % left, lambda: site.metric(ready) == left)
            time.sleep(0.3 * SCALE)
            same('ready beside %d' % count, left, site.metric(ready))
            same('still busy', count, site.metric('sandbox_slots_busy'))
            for run in runs:
                run.result().expect()
    standing_by(site, 4)


# a hello that then waits, and the page faults that it may take: 17 and 20 with the
# pages of a run learned and made ready, 39 and 73 without
FAULTS = {'python': ('print(1, flush=True)\nimport time\ntime.sleep(3)', 28),
          'node': ('console.log(1); setTimeout(() => {}, 3000)', 46)}


def faults(tree):
    """pid: minor faults so far, of each child."""
    return {p.pid: int(processes.read('/proc/%d/stat' % p.pid)
                       .rsplit(')', 1)[1].split()[7]) for p in tree.children}


@case
def standby_faults(site):
    """a child on standby has the pages of a run (since Linux 5.14)"""
    if tuple(map(int, re.findall(r'\d+', os.uname().release)[:2])) < (5, 14):
        return 'no MADV_POPULATE_WRITE'
    site.start('sandbox_slots 2; sandbox_standby 1;')
    told = []
    for language, (code, most) in FAULTS.items():
        standing_by(site, 1)
        tree = site.tree()
        before = faults(tree)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            run = pool.submit(site.run, code, language)
            wait_for('it runs', lambda: site.metric('sandbox_slots_busy') == 1)
            time.sleep(1 * SCALE)
            after = faults(tree)
            run.result().expect()
        took = max(after[pid] - before[pid] for pid in before if pid in after)
        told.append('%s %d' % (language, took))
        if not 0 < took <= most:
            raise Failure('%s: %d faults' % (language, took))
    return ', '.join(told)
