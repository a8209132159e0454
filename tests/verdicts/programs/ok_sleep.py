# expect: success
# limits: {"timeout": 10000}
# weight: 20
# sleeps a hundredth of its time

import time
time.sleep(0.1)
