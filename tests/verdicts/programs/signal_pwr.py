# expect: signaled signal=SIGPWR
# weight: 9
# from itself, with the kernel's action

import os
import signal

signal.signal(signal.SIGPWR, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGPWR)
