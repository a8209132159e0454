# expect: seccomp_violation
# says: forbidden system call: clone 
# violation: FORBIDDEN_SYSCALL
# weight: 4
# a namespace by clone

import ctypes

ctypes.CDLL(None).syscall(56, 0x10000000 | 17, 0, 0, 0, 0)
