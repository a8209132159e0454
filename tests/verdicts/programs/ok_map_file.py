# expect: success
# limits: {"memory": "64m"}
# weight: 2
# maps a file larger than its memory to read it

import mmap

with open("/usr/bin/node", "rb") as f:
    m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
assert len(m) > 64 << 20
assert sum(m[::4096]) > 0
