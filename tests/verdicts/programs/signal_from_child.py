# expect: signaled signal=SIGKILL
# limits: {"processes": 4}
# weight: 4
# killed by its own child

import os
import signal

if os.fork() == 0:
    os.kill(os.getppid(), signal.SIGKILL)
    os._exit(0)
signal.pause()
