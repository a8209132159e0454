# expect: success
# output: b'self'
# its own stdin, opened for writing, is its own affair

import os

fd = os.open('/proc/self/fd/0', os.O_WRONLY)
os.write(fd, b'self')
os.close(fd)
print(os.read(0, 9))
