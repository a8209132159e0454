# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# weight: 19
# a mapping that grows

import mmap

m = mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
while True:
    m.resize(2 * len(m))
