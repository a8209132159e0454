# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# weight: 20
# many mappings

import mmap

a = []
while True:
    a.append(mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
