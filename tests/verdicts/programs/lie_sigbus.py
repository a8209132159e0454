# expect: memory_violation signal=SIGBUS
# a signal that looks the same whoever sent it, from itself: against itself

import os
import signal

os.kill(os.getpid(), signal.SIGBUS)
