# expect: memory_exceeded allocation
# limits: {"allocation": "20m"}
# and one that mremap grows

import mmap

m = mmap.mmap(-1, 1 << 20)
for mib in range(2, 60):
    m.resize(mib << 20)
print('breach')
