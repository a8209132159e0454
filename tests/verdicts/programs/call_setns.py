# expect: seccomp_violation
# says: forbidden system call: setns 
# violation: FORBIDDEN_SYSCALL
# output: 
# weight: 4
# a call that no honest program makes

import ctypes

ctypes.CDLL(None).syscall(308, 0, 0, 0, 0, 0)
print("went on")
