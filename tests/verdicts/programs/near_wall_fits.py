# expect: success
# limits: {"timeout": 5000}
# weight: 20
# far below its time

import time
time.sleep(0.05)
