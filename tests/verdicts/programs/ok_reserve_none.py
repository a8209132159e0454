# expect: success
# limits: {"memory": "64m"}
# weight: 6
# a reservation without access is no memory: what honest runtimes do

import ctypes

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
assert libc.mmap(None, ctypes.c_size_t(32 << 20), 0, 0x22, -1,
                 ctypes.c_long(0)) not in (None, (1 << 64) - 1)
