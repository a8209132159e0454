# expect: seccomp_violation
# says: forbidden system call: process_vm_readv \(310\)
# violation: FORBIDDEN_SYSCALL
# output: 
# weight: 6
# a call that no honest program makes

import ctypes

ctypes.CDLL(None).syscall(310, 0, 0, 0, 0, 0)
print("went on")
