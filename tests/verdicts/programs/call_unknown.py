# expect: success
# output: 38\n
# weight: 4
# a number that no kernel has: not there

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(1000)
print(ctypes.get_errno())
