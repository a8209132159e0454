# expect: success
# output: forked\n
# limits: {"processes": 8, "timeout": 60000, "cpu_time": 60000}
# case: 44
# weight: 1
# orphans are reaped: more of them than there may be processes

import os
import time

left = 24
while left:
    try:
        pid = os.fork()
    except BlockingIOError:     # the last ones are on their way
        time.sleep(0.01)
        continue
    if pid == 0:
        try:
            os.fork()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    left -= 1
print("forked")
