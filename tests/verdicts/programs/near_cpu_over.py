# expect: timeout cpu
# limits: {"cpu_time": 200, "timeout": 30000}
# weight: 1
# 1.5 times its CPU time

import time

end = time.process_time() + 0.3
while time.process_time() < end:
    pass
