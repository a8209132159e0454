# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# weight: 7
# realloc, by hand

import ctypes

libc = ctypes.CDLL(None)
libc.realloc.restype = ctypes.c_void_p
p, size = None, 1 << 20
while size < 1 << 30:
    p = libc.realloc(ctypes.c_void_p(p), ctypes.c_size_t(size))
    if not p:
        raise MemoryError
    size *= 2
