# expect: success
# output: True
# a forgotten descriptor is a way out

import os

d = os.open('/proc/self/fd', os.O_RDONLY)
print(sorted(map(int, os.listdir(d))) == [0, 1, 2, d])
