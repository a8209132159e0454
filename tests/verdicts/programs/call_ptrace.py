# expect: seccomp_violation
# row: 4
# says: forbidden system call: ptrace \(101\)
# violation: FORBIDDEN_SYSCALL
# output: 
# weight: 6
# a call that no honest program makes

import ctypes

ctypes.CDLL(None).syscall(101, 0, 0, 0, 0, 0)
print("went on")
