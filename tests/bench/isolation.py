"""The isolation tax: the sustained cycle with all layers on, and with them off.

Off is a build with -DSBX_FAULTS in which children enter no user, ipc and uts
namespace, keep root's ids and capabilities, have no rlimits of their own, no
Landlock, no complete filter, no memory hook and no cgroup, and slots are used
again without new tmpfs and ipc.  On is the same build with nothing off.  What
both have, because there is no cycle without it: nginx and the supervisor, a
slot's pid namespace, init and mounts, the limits that the supervisor sets from
outside, and the listener for the early answer.
"""

import ctypes
import json
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

import measure
import peers
import programs
import rates

CHECKS = ('check_limit check_preload check_proc_limits check_growth '
          'check_signal check_oom check_deadline')
CLONE_NEWNS, MS_REC, MS_PRIVATE, MNT_DETACH = 0x20000, 0x4000, 1 << 18, 2
ROUNDS = 5


def leave_cgroups():
    """In the child: a host without them."""
    libc = ctypes.CDLL(None, use_errno=True)
    if (libc.unshare(CLONE_NEWNS) < 0
            or libc.mount(None, b'/', None, MS_REC | MS_PRIVATE, None) < 0
            or libc.umount2(b'/sys/fs/cgroup', MNT_DETACH) < 0):
        os._exit(99)


def copy_build(faulty, place):
    """With a hook that does nothing."""
    for name in ('deer-flow', 'libsbx_python.so', 'libsbx_node.so'):
        if os.path.exists(os.path.join(faulty, name)):
            shutil.copy(os.path.join(faulty, name), place)
    if os.path.isdir(os.path.join(faulty, 'node')):
        shutil.copytree(os.path.join(faulty, 'node'), place + '/node')
    subprocess.run(['cc', '-shared', '-x', 'c', '/dev/null', '-o',
                    place + '/libsbx_preload.so'], check=True)
    return place + '/deer-flow'


class Served:
    """`deer-flow serve` of that build, and an nginx before it."""

    def __init__(self, bench, on):
        self.place = tempfile.mkdtemp(prefix='bench-', dir='/tmp')
        os.chmod(self.place, 0o755)
        self.process = self.nginx = None
        self.bench = bench
        command = (os.path.join(bench.faulty, 'deer-flow') if on
                   else copy_build(bench.faulty, self.place))
        env = dict(peers.ENV) if on else dict(peers.ENV, SBX_FAULT='layers')
        socket = self.place + '/socket'
        try:
            with open(self.place + '/log', 'w') as log:
                self.process = subprocess.Popen(
                    [command, 'serve', '--listen', 'unix:' + socket,
                     '--config', json.dumps({'standby': 0})],
                    env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    preexec_fn=None if on else leave_cgroups)
            end = time.monotonic() + 60
            while not os.path.exists(socket):
                if self.process.poll() is not None or time.monotonic() > end:
                    raise SystemExit('no supervisor: ' + self.log())
                time.sleep(0.05)
            self.nginx = bench.server(
                '' if on else 'sandbox_allow_missing %s;' % CHECKS, socket)
        except BaseException:
            self.stop()
            raise

    def log(self):
        with open(self.place + '/log') as f:
            return f.read()[-2000:]

    def stop(self):
        if self.nginx is not None:
            self.bench.end(self.nginx)
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)
        shutil.rmtree(self.place, ignore_errors=True)


def tax(bench):
    """By how much a sustained rate is lower with the layers than without."""
    if os.geteuid() != 0:
        return {'missing': 'only root can take all layers away'}
    if not rates.build_ready(bench):
        return {'missing': 'no build with -DSBX_FAULTS'}
    sides, found = [], {}
    try:
        for on in (True, False):
            sides.append(Served(bench, on))
        for language, program in programs.HELLO.items():
            per_s = [[], []]
            for i in range(ROUNDS):
                for side in ((0, 1) if i % 2 else (1, 0)):
                    per_s[side].append(rates.ab(
                        sides[side].nginx.port, program, bench.n(300), 8)[0])
            on, off = (statistics.median(v) for v in per_s)
            found[language] = {'on_per_s': on, 'off_per_s': off,
                               'ratio': off / on}
    finally:
        for side in sides:
            side.stop()
    return found


def print_tax(found):
    if 'missing' in found:
        return 'isolation tax: not measured: ' + found['missing']
    return measure.table(
        ('language', 'runs/s, all layers', 'runs/s, none', 'tax'),
        [(language, '%.0f' % one['on_per_s'], '%.0f' % one['off_per_s'],
          '%.2f' % one['ratio']) for language, one in found.items()])
