# expect: memory_exceeded hook
# limits: {"memory": "16m"}
# the same file as a private copy that may be written to is

import mmap

with open('/usr/bin/node', 'rb') as f:
    m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_COPY)
    for i in range(0, len(m), 4096):
        m[i] = 1
print('breach')
