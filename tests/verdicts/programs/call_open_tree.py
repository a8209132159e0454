# expect: seccomp_violation
# says: forbidden system call: open_tree \(428\)
# violation: FORBIDDEN_SYSCALL
# output: 
# weight: 4
# a call that no honest program makes

import ctypes

ctypes.CDLL(None).syscall(428, 0, 0, 0, 0, 0)
print("went on")
