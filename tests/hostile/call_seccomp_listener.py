# expect: success
# output: refused
# a listener of its own would hide calls

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
rc = libc.syscall(317, 1, 8, 0)
print('breach' if rc >= 0 else 'refused')
