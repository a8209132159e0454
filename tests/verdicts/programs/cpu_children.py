# expect: timeout cpu
# limits: {"cpu_time": 150, "timeout": 30000, "processes": 4}
# says: CPU time limit of 150ms exceeded
# weight: 1
# children, one after the other

import os
import time

while True:
    pid = os.fork()
    if pid == 0:
        end = time.process_time() + 0.02
        while time.process_time() < end:
            pass
        os._exit(0)
    os.waitpid(pid, 0)
