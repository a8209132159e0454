# expect: seccomp_violation
# limits: {"processes": 4}
# a sibling would be the supervisor's child

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(56, 0x8000 | 17, 0, 0, 0, 0)
print('breach')
