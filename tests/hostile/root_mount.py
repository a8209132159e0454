# expect: seccomp_violation
# the mount table

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(165, 0, 0, 0, 0, 0)
print('breach')
