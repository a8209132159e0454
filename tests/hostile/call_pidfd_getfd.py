# expect: seccomp_violation
# takes a descriptor

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(438, 0, 0, 0, 0, 0)
print('breach')
