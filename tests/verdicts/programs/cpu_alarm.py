# expect: timeout cpu
# limits: {"cpu_time": 100, "timeout": 30000}
# says: CPU time limit of 100ms exceeded
# weight: 2
# an own timer does not help

import signal

signal.signal(signal.SIGALRM, lambda *a: None)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
while True:
    pass
