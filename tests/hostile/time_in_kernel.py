# expect: timeout cpu
# limits: {"cpu_time": 300, "timeout": 10000}
# system time counts

import os

z = os.open('/dev/zero', 0)
while True:
    os.read(z, 1 << 22)
