# expect: seccomp_violation
# says: forbidden system call: open_by_handle_at \(304\)
# violation: FORBIDDEN_SYSCALL
# output: 
# weight: 7
# a call that no honest program makes

import ctypes

ctypes.CDLL(None).syscall(304, 0, 0, 0, 0, 0)
print("went on")
