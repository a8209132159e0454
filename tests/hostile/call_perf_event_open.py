# expect: seccomp_violation
# kernel counters

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(298, 0, 0, 0, 0, 0)
print('breach')
