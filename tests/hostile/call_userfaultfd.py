# expect: seccomp_violation
# stops the kernel in a copy

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(323, 0, 0, 0, 0, 0)
print('breach')
