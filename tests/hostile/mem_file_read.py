# expect: success
# output: read
# limits: {"memory": "16m"}
# a file that is only mapped and read is not the run's memory

import mmap

with open('/usr/bin/node', 'rb') as f:
    m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
    n = sum(m[i] for i in range(0, len(m), 4096))
print('read' if len(m) > 32 << 20 else 'too small')
