# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "100m", "threads": 0}
# weight: 18
# 1.5 times its limit

import mmap

x = mmap.mmap(-1, 150 << 20)
x.write(b"x" * (1 << 20))
