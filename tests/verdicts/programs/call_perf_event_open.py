# expect: seccomp_violation
# says: forbidden system call: perf_event_open \(298\)
# violation: FORBIDDEN_SYSCALL
# output: 
# weight: 6
# a call that no honest program makes

import ctypes

ctypes.CDLL(None).syscall(298, 0, 0, 0, 0, 0)
print("went on")
