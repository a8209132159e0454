# expect: error
# exit by exit, not exit_group: no early answer

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(60, 3)
