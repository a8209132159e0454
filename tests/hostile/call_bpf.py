# expect: seccomp_violation
# programs in the kernel

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(321, 0, 0, 0, 0, 0)
print('breach')
