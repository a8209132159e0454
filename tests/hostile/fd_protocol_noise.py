# expect: success
# output: written to 0
# whoever listens on another descriptor must not be there

import os

n = 0
for fd in range(3, 1024):
    try:
        os.write(fd, b'SBXF\1\0\2\0' + bytes(4096))
        n += 1
    except OSError:
        pass
print('written to', n)
