# expect: seccomp_violation
# says: forbidden system call: bpf \(321\)
# violation: FORBIDDEN_SYSCALL
# output: 
# weight: 3
# a call that no honest program makes

import ctypes

ctypes.CDLL(None).syscall(321, 0, 0, 0, 0, 0)
print("went on")
