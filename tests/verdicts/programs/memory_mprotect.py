# expect: memory_exceeded hook
# without hook: success
# limits: {"memory": "64m", "threads": 0}
# weight: 7
# a reservation made writable

import ctypes

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
at = libc.mmap(None, ctypes.c_size_t(70 << 20), 0, 0x22, -1, ctypes.c_long(0))
if libc.mprotect(ctypes.c_void_p(at), ctypes.c_size_t(70 << 20), 3):
    raise MemoryError
print("mapped")
