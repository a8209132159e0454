# expect: seccomp_violation
# says: forbidden system call: pivot_root \(155\)
# violation: FORBIDDEN_SYSCALL
# output: 
# weight: 6
# a call that no honest program makes

import ctypes

ctypes.CDLL(None).syscall(155, 0, 0, 0, 0, 0)
print("went on")
