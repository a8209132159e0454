# expect: success
# output: refused\nrefused\nrefused\nrefused\nrefused\n
# neither class nor priority nor limits go up

import os
import resource

for f in (lambda: os.setpriority(os.PRIO_PROCESS, 0, -5),
          lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
          lambda: resource.setrlimit(resource.RLIMIT_AS, (-1, -1)),
          lambda: resource.setrlimit(resource.RLIMIT_CPU, (-1, -1)),
          lambda: resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))):
    try:
        f()
        print('breach')
    except (OSError, ValueError):
        print('refused')
