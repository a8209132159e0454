# expect: success
# output: -9\n
# limits: {"processes": 4}
# weight: 2
# the end of a child is not the end of the run

import os
import signal

pid = os.fork()
if pid == 0:
    os.kill(os.getpid(), signal.SIGKILL)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
