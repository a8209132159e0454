# expect: seccomp_violation signal=SIGSYS
# row: 4
# the signal alone, from itself: as the filter's own kill

import os
import signal

os.kill(os.getpid(), signal.SIGSYS)
