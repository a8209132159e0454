# expect: success|memory_exceeded
# output: refused
# page tables of a sparse mapping

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

at = libc.syscall(9, None, ctypes.c_size_t(1 << 40), 1, 0x4022, -1,
                  ctypes.c_long(0))
print('breach' if at != -1 else 'refused')
