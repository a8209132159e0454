# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# weight: 7
# malloc, by hand

import ctypes

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
if not libc.malloc(ctypes.c_size_t(200 << 20)):
    raise MemoryError
