# expect: success
# limits: {"processes": 16}
# output: first is done
# the run ends with its first process; what setsid hid dies with it

import os
import time

for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(60)
        os._exit(0)
print('first is done')
