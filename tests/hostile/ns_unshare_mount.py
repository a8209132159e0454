# expect: seccomp_violation
# a mount namespace of its own

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(272, 0x20000)
print('breach')
