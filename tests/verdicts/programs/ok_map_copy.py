# expect: success
# limits: {"memory": "128m"}
# weight: 8
# a private copy that fits

import mmap

with open("/usr/bin/node", "rb") as f:
    m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_COPY)
m[0:5] = b"hello"
