# expect: timeout wall
# limits: {"timeout": 150, "cpu_time": 30000}
# says: time limit of 150ms exceeded
# weight: 4
# never returns from its handler

import os
import signal
import time

signal.signal(signal.SIGTERM, lambda *a: time.sleep(60))
os.kill(os.getpid(), signal.SIGTERM)
