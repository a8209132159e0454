# expect: success
# only eight bits of a code count

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(231, 256)
