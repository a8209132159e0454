# expect: timeout cpu
# limits: {"processes": 4, "cpu_time": 300, "timeout": 10000}
# time that waited-for children took is the run's

import os
import time

pid = os.fork()
if pid == 0:
    while time.process_time() < 0.8:
        pass
    os._exit(0)
os.waitpid(pid, 0)
print('breach')
