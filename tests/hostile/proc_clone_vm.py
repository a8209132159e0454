# expect: success
# limits: {"processes": 4}
# output: =first\n
# a process that shares memory goes on after the first one's end

import os
import time

pid = os.fork()
if pid == 0:
    time.sleep(0.3)
    os.write(1, b'late\n')
    os._exit(0)
os.write(1, b'first\n')
os._exit(0)
