# expect: signaled signal=SIGVTALRM
# from itself, with the kernel's action

import os
import signal

signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGVTALRM)
