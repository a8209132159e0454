# expect: process_exceeded exit=1
# without cgroup: error exit=1
# limits: {"processes": 10, "threads": 0}
# weight: 1
# 1.5 times the processes

import os
import signal

for _ in range(15):
    if os.fork() == 0:
        signal.pause()
