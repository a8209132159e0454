# expect: seccomp_violation
# numbers of the x32 ABI pass no table

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(0x40000000 + 39)
print('breach')
