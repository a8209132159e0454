# expect: memory_exceeded hook
# the same by mapping /dev/zero

import mmap
import os

m = mmap.mmap(os.open('/dev/zero', os.O_RDWR), 1 << 30)
print('breach')
