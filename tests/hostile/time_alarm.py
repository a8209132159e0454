# expect: success
# a timer that fires at the end changes no status

import os
import signal

signal.setitimer(signal.ITIMER_REAL, 10)
os._exit(0)
