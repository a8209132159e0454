# expect: success
# output: refused
# memory outside both rlimits

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
rc = libc.syscall(29, 0, 1 << 30, 0o1600)
print('breach' if rc >= 0 else 'refused')
