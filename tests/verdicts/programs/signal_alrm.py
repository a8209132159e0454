# expect: signaled signal=SIGALRM
# weight: 8
# from itself, with the kernel's action

import os
import signal

signal.signal(signal.SIGALRM, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGALRM)
