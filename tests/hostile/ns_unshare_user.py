# expect: seccomp_violation
# a user namespace of its own would give it capabilities

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(272, 0x10000000)
print('breach')
