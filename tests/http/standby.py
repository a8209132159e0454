"""How many children are ready: at rest, and beside runs."""

import concurrent.futures
import os
import time

from cases import case
from nginx import SCALE, same, wait_for


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
