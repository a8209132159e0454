# expect: seccomp_violation
# types into a terminal

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.ioctl(0, 0x5412, b'x')
print('breach')
