# expect: timeout wall
# row: 5
# case: 7
# limits: {"timeout": 150, "cpu_time": 30000}
# says: time limit of 150ms exceeded
# weight: 4
# sleeps

import time
time.sleep(60)
