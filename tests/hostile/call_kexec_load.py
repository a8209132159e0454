# expect: seccomp_violation
# another kernel

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(246, 0, 0, 0, 0, 0)
print('breach')
