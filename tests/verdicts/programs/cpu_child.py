# expect: timeout cpu
# limits: {"cpu_time": 150, "timeout": 30000, "processes": 4}
# says: CPU time limit of 150ms exceeded
# weight: 1
# a child's time counts

import os
import signal

if os.fork() == 0:
    while True:
        pass
signal.pause()
