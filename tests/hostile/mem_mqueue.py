# expect: success
# output: refused
# kernel memory of its own

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
rc = libc.syscall(240, b'/x', 0o102, 0o600, 0)
print('breach' if rc >= 0 else 'refused')
