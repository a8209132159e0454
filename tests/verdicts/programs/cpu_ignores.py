# expect: timeout cpu
# limits: {"cpu_time": 100, "timeout": 30000}
# says: CPU time limit of 100ms exceeded
# weight: 2
# the kernel's signal for it is ignored

import signal

signal.signal(signal.SIGXCPU, signal.SIG_IGN)
while True:
    pass
