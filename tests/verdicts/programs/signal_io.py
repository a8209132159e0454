# expect: signaled signal=SIGPOLL
# weight: 4
# a signal of two names: SIGIO

import os
import signal

os.kill(os.getpid(), signal.SIGIO)
