# expect: timeout wall
# limits: {"timeout": 200}
# weight: 20
# 1.5 times its time

import time
time.sleep(0.3)
