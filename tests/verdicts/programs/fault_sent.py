# expect: memory_violation signal=SIGSEGV
# weight: 7
# the signal alone, from itself

import os
import signal

os.kill(os.getpid(), signal.SIGSEGV)
