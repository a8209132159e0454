# expect: timeout wall
# limits: {"timeout": 150, "cpu_time": 30000}
# says: time limit of 150ms exceeded
# weight: 4
# stops itself

import os
import signal

os.kill(os.getpid(), signal.SIGSTOP)
