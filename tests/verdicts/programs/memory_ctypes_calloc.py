# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# weight: 8
# calloc, by hand

import ctypes

libc = ctypes.CDLL(None)
libc.calloc.restype = ctypes.c_void_p
if not libc.calloc(ctypes.c_size_t(200), ctypes.c_size_t(1 << 20)):
    raise MemoryError
