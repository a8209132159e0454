# expect: success
# output: rang\n
# weight: 9
# an own timer

import signal

signal.signal(signal.SIGALRM, lambda *a: print("rang"))
signal.setitimer(signal.ITIMER_REAL, 0.02)
signal.pause()
