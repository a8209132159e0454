# expect: seccomp_violation
# keyrings are not in a namespace

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(250, 0, 0, 0, 0, 0)
print('breach')
