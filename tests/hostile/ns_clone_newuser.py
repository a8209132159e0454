# expect: seccomp_violation
# namespaces by clone's flags

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0)
print('breach')
