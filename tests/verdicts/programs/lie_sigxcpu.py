# expect: signaled signal=SIGXCPU
# weight: 9
# the kernel's signal for CPU time, from itself

import os
import signal

os.kill(os.getpid(), signal.SIGXCPU)
