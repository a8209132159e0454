# expect: signaled signal=SIGQUIT
# weight: 9
# from itself, with the kernel's action

import os
import signal

signal.signal(signal.SIGQUIT, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGQUIT)
