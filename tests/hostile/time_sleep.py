# expect: timeout wall
# limits: {"timeout": 300}
# the wall clock

import time

time.sleep(60)
