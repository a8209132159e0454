# expect: success
# output: refused
# calls that pass no filter

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
rc = libc.syscall(425, 8, 0)
print('breach' if rc >= 0 else 'refused')
