# expect: error exit=4
# limits: {"processes": 4}
# weight: 5
# children that worked explain no failure

import os

pid = os.fork()
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)
os._exit(4)
