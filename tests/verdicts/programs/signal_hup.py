# expect: signaled signal=SIGHUP
# weight: 11
# from itself, with the kernel's action

import os
import signal

signal.signal(signal.SIGHUP, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGHUP)
