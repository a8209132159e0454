# expect: success
# output: 38\n
# weight: 3
# clone3 is not there: libc falls back

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(435, 0, 0)
print(ctypes.get_errno())
