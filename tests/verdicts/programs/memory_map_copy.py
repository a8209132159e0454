# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "48m", "threads": 0}
# weight: 16
# a private copy of a file that is larger than its memory

import mmap

with open("/usr/bin/node", "rb") as f:
    m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_COPY)
