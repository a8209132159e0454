# expect: signaled signal=SIGINT
# weight: 7
# from itself, with the kernel's action

import os
import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGINT)
