# expect: signaled signal=SIGPROF
# weight: 7
# from itself, with the kernel's action

import os
import signal

signal.signal(signal.SIGPROF, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGPROF)
