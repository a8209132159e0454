# expect: timeout cpu
# limits: {"cpu_time": 200, "timeout": 30000}
# says: CPU time limit of 200ms exceeded
# weight: 1
# exec does not set the clock back

import os

os.execv("/usr/bin/python3", ["python3", "-c", "while True: pass"])
