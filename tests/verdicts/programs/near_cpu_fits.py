# expect: success
# limits: {"cpu_time": 1000, "timeout": 30000}
# weight: 1
# 0.85 of its CPU time, its own start and end included

import time

end = time.process_time() + 0.85
while time.process_time() < end:
    pass
