# expect: memory_violation signal=SIGSEGV
# violation: WRITE_OUT_OF_BOUNDS
# weight: 7
# runs over the end of a mapping

import ctypes

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
at = libc.mmap(None, ctypes.c_size_t(8192), 3, 0x22, -1, ctypes.c_long(0))
libc.mprotect(ctypes.c_void_p(at + 4096), ctypes.c_size_t(4096), 0)
ctypes.memset(at, 1, 8192)
