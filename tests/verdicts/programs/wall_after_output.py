# expect: timeout wall
# limits: {"timeout": 300, "cpu_time": 30000}
# says: time limit of 300ms exceeded
# weight: 4
# what was flushed before is kept

import time

print("so far", flush=True)
time.sleep(60)
