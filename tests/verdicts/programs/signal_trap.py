# expect: signaled signal=SIGTRAP
# from itself, with the kernel's action

import os
import signal

signal.signal(signal.SIGTRAP, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGTRAP)
