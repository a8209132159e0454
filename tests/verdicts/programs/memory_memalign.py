# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# weight: 7
# memory with alignment

import ctypes

libc = ctypes.CDLL(None)
libc.aligned_alloc.restype = ctypes.c_void_p
if not libc.aligned_alloc(ctypes.c_size_t(4096), ctypes.c_size_t(200 << 20)):
    raise MemoryError
