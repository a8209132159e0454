# expect: signaled signal=SIGSTKFLT
# weight: 6
# from itself, with the kernel's action

import os
import signal

signal.signal(signal.SIGSTKFLT, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGSTKFLT)
