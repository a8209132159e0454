# expect: seccomp_violation
# says: forbidden system call: acct \(163\)
# violation: FORBIDDEN_SYSCALL
# output: 
# weight: 3
# a call that no honest program makes

import ctypes

ctypes.CDLL(None).syscall(163, 0, 0, 0, 0, 0)
print("went on")
