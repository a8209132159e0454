# expect: signaled signal=SIGFPE
# weight: 12
# from itself, with the kernel's action

import os
import signal

signal.signal(signal.SIGFPE, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGFPE)
