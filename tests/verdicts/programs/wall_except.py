# expect: timeout wall
# limits: {"timeout": 150, "cpu_time": 30000}
# says: time limit of 150ms exceeded
# weight: 4
# catches everything and goes on

import time

while True:
    try:
        time.sleep(60)
    except BaseException:
        pass
