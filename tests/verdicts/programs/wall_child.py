# expect: timeout wall
# limits: {"timeout": 150, "cpu_time": 30000, "processes": 4}
# says: time limit of 150ms exceeded
# weight: 4
# waits for a child that sleeps

import os
import time

pid = os.fork()
if pid == 0:
    time.sleep(60)
os.waitpid(pid, 0)
