# expect: seccomp_violation
# hardware

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(172, 0, 0, 0, 0, 0)
print('breach')
