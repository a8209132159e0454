# expect: success
# limits: {"processes": 10}
# weight: 1
# 0.9 of the processes

import os
import signal

pids = []
for _ in range(9):
    pid = os.fork()
    if pid == 0:
        signal.pause()
    pids.append(pid)
for pid in pids:
    os.kill(pid, 9)
    os.waitpid(pid, 0)
