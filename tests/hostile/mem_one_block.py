# expect: memory_exceeded allocation
# limits: {"allocation": "20m"}
# a block that grows in small steps is one block all the same

import ctypes

libc = ctypes.CDLL(None)
libc.realloc.restype = ctypes.c_void_p
libc.realloc.argtypes = ctypes.c_void_p, ctypes.c_size_t
p = None
for kib in range(64, 60 << 10, 32):
    p = libc.realloc(p, kib << 10)
print('breach')
