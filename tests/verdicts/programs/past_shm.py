# expect: error exit=1
# stderr: PermissionError
# weight: 5
# System V memory is not there

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
if libc.shmget(0, ctypes.c_size_t(1 << 20), 0o1600) < 0:
    raise PermissionError
