# expect: signaled signal=SIGPOLL
# weight: 9
# a signal of two names: SIGIO

import os
import signal

os.kill(os.getpid(), signal.SIGIO)
