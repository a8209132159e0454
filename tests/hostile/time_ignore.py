# expect: timeout wall
# limits: {"timeout": 300}
# signals are ignored

import signal
import time

for s in range(1, 65):
    try:
        signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
time.sleep(60)
