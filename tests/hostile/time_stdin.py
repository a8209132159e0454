# expect: timeout wall
# limits: {"timeout": 300}
# a read that nothing ends

import os

w = os.open('/proc/self/fd/0', os.O_WRONLY)
os.read(0, 1)
