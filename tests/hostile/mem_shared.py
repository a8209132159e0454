# expect: memory_exceeded hook
# shared anonymous memory, which RLIMIT_DATA does not count

import mmap

m = mmap.mmap(-1, 1 << 30)
print('breach')
