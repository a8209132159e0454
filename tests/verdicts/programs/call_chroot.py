# expect: seccomp_violation
# says: forbidden system call: chroot \(161\)
# violation: FORBIDDEN_SYSCALL
# output: 
# weight: 4
# a call that no honest program makes

import ctypes

ctypes.CDLL(None).syscall(161, 0, 0, 0, 0, 0)
print("went on")
