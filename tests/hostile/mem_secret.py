# expect: success|seccomp_violation
# output: ?refused
# memory that not even the kernel maps

import ctypes

rc = ctypes.CDLL(None).syscall(447, 0)
print('breach' if rc >= 0 else 'refused')
