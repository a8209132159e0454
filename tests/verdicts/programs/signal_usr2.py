# expect: signaled signal=SIGUSR2
# weight: 9
# from itself, with the kernel's action

import os
import signal

signal.signal(signal.SIGUSR2, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGUSR2)
