# expect: timeout wall
# limits: {"timeout": 150, "cpu_time": 30000}
# says: time limit of 150ms exceeded
# weight: 4
# sleeps at its end

import atexit
import time

atexit.register(time.sleep, 60)
