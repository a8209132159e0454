"""What a server holds, while nobody asks it for anything."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '../lifecycle'))

import processes

ROLES = ('workers', 'supervisor', 'zygotes', 'slot inits', 'children')
COUNTS = ('processes', 'threads', 'descriptors', 'mounts')
METRICS = ('sandbox_slots', 'sandbox_standby', 'sandbox_supervisor_starts',
           'sandbox_slot_failures', 'sandbox_zygote_restarts',
           'sandbox_zygote_renewals')


def by_role(server):
    server.find_processes()
    tree = server.tree
    return {'workers': server.workers, 'supervisor': [tree.supervisor],
            'zygotes': tree.zygotes, 'slot inits': tree.slot_inits,
            'children': tree.children}


def kib(pid, path, key):
    for line in processes.read('/proc/%d/%s' % (pid, path)).splitlines():
        if line.startswith(key + ':'):
            return int(line.split()[1])
    return 0


def tmpfs_bytes(pid):
    """What lies in a slot's two directories, empty when it is clean."""
    used = 0
    for place in ('tmp', 'dev/shm'):
        st = os.statvfs('/proc/%d/root/%s' % (pid, place))
        used += (st.f_blocks - st.f_bfree) * st.f_bsize
    return used


def metrics(server):
    text = server.exchange(b'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n').decode()
    sums = dict.fromkeys(METRICS, 0)
    for line in text.splitlines():
        name, _, value = line.rpartition(' ')
        name = name.partition('{')[0]
        if name in sums:
            sums[name] += int(float(value))
    return sums


def look(server):
    """Counts, which must not drift, and sizes, which are reported."""
    roles = by_role(server)
    counts, sizes = {}, {}
    for role in ROLES:
        pids = [p.pid for p in roles[role]]
        holds = [processes.holds(pid) for pid in pids]
        counts[role] = {
            'processes': len(pids),
            'threads': sum(kib(pid, 'status', 'Threads') for pid in pids),
            'descriptors': sum(h['descriptors'] for h in holds),
            'mounts': sum(h['mounts'] for h in holds)}
        sizes[role] = {
            'Pss MiB': sum(kib(pid, 'smaps_rollup', 'Pss')
                           for pid in pids) / 1024,
            'RSS MiB': sum(kib(pid, 'smaps_rollup', 'Rss')
                           for pid in pids) / 1024}
    found = metrics(server)
    renewals = {key: found.pop(key) for key in
                ('sandbox_zygote_renewals', 'sandbox_zygote_restarts')}
    counts['metrics'] = found
    counts['host'] = {'mounts': len(processes.read(
        '/proc/self/mountinfo').splitlines())}
    sizes['tmpfs'] = {'bytes in all slots': sum(
        tmpfs_bytes(p.pid) for p in roles['slot inits'])}
    sizes['zygotes'].update(renewals)
    return counts, sizes


def differences(one, other):
    return ['%s, %s: %d, then %d' % (role, what, one[role][what],
                                     other[role][what])
            for role in one for what in one[role]
            if one[role][what] != other[role][what]]
