# expect: disk_exceeded signal=SIGXFSZ
# weight: 9
# a signal that looks the same whoever sent it, from itself: against itself

import os
import signal

signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGXFSZ)
