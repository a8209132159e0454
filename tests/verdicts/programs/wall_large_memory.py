# expect: timeout wall
# limits: {"timeout": 300, "cpu_time": 30000}
# says: time limit of 300ms exceeded
# weight: 4
# sleeps with most of its memory in use

import time

x = bytearray(100 << 20)
time.sleep(60)
