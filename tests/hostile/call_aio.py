# expect: success
# output: refused
# the older way to do that

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
rc = libc.syscall(206, 8, 0)
print('breach' if rc >= 0 else 'refused')
