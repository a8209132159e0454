# expect: memory_violation signal=SIGSEGV
# violation: READ_OUT_OF_BOUNDS
# weight: 7
# reads what it has unmapped

import ctypes

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
at = libc.mmap(None, ctypes.c_size_t(4096), 3, 0x22, -1, ctypes.c_long(0))
libc.munmap(ctypes.c_void_p(at), ctypes.c_size_t(4096))
ctypes.string_at(at, 1)
