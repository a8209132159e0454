# expect: signaled signal=SIGALRM
# weight: 11
# an own timer that nobody catches

import signal

signal.setitimer(signal.ITIMER_REAL, 0.02)
signal.pause()
