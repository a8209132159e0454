# expect: seccomp_violation
# odd segments

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(154, 0, 0, 0, 0, 0)
print('breach')
