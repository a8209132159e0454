# expect: seccomp_violation
# what a mount hides

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(166, 0, 0, 0, 0, 0)
print('breach')
