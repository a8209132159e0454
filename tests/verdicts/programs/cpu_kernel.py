# expect: timeout cpu
# case: 4
# limits: {"cpu_time": 200, "timeout": 30000}
# says: CPU time limit of 200ms exceeded
# weight: 1
# system time counts

import os

zero = os.open("/dev/zero", os.O_RDONLY)
while True:
    os.read(zero, 1 << 22)
