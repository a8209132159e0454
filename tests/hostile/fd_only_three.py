# expect: success
# output: [0, 1, 2]
# a forgotten descriptor is a way out

import os

seen = []
for fd in range(4096):
    try:
        os.fstat(fd)
        seen.append(fd)
    except OSError:
        pass
print(seen)
