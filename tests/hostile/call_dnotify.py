# expect: seccomp_violation
# News of what other runs, and the host, read: fcntl can do what inotify is
# refused for.
import ctypes
import fcntl
import os

libc = ctypes.CDLL(None, use_errno=True)
place = os.open('/usr/lib', os.O_RDONLY)
# nor with something in the upper half of the register
libc.syscall(72, place, ctypes.c_long(1 << 32 | fcntl.F_NOTIFY),
             fcntl.DN_ACCESS | fcntl.DN_MULTISHOT)
fcntl.fcntl(place, fcntl.F_NOTIFY, fcntl.DN_ACCESS | fcntl.DN_MULTISHOT)
print('breach: watches a directory')
