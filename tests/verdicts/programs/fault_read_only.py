# expect: memory_violation signal=SIGSEGV
# violation: WRITE_OUT_OF_BOUNDS
# weight: 7
# writes what is read-only

import ctypes

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
at = libc.mmap(None, ctypes.c_size_t(4096), 1, 0x22, -1, ctypes.c_long(0))
ctypes.memset(at, 1, 1)
