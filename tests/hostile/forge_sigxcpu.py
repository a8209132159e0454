# expect: signaled
# so it did here: no limit was reached

import os
import signal

signal.signal(signal.SIGXCPU, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGXCPU)
