# expect: success
# limits: {"memory": "100m"}
# weight: 5
# 0.9 of its limit

import mmap

x = mmap.mmap(-1, 90 << 20)
x.write(b"x" * (1 << 20))
