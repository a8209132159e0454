# expect: memory_violation signal=SIGBUS
# row: 11
# violation: BUS_ERROR
# weight: 13
# a mapped file that became shorter

import mmap

with open("a", "w+b") as f:
    f.truncate(4096)
    m = mmap.mmap(f.fileno(), 4096)
    f.truncate(0)
    m[0]
