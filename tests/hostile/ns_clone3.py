# expect: success
# output: refused
# flags in memory, which no filter sees

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
rc = libc.syscall(435, 0, 0)
print('breach' if rc >= 0 else 'refused')
