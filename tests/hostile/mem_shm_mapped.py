# expect: memory_exceeded|memory_violation
# POSIX shared memory, sparse and mapped: no writer meets ENOSPC

import mmap
import os

maps = []
for i in range(32):
    fd = os.open('/dev/shm/x%d' % i, os.O_RDWR | os.O_CREAT)
    os.ftruncate(fd, 16 << 20)
    maps.append(mmap.mmap(fd, 16 << 20))
for m in maps:
    for i in range(0, len(m), 4096):
        m[i] = 1
print('breach')
