# expect: signaled signal=SIGILL
# weight: 13
# from itself, with the kernel's action

import os
import signal

signal.signal(signal.SIGILL, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGILL)
