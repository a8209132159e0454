# limits: {"memory": "64m", "threads": 0, "timeout": 30000}
# shared memory, past the hook: RLIMIT_DATA would not count it

import ctypes
import os
import signal

libc = ctypes.CDLL(None)
libc.syscall.restype = ctypes.c_long

for i in range(2048):
    at = libc.syscall(9, None, ctypes.c_size_t(1 << 20), 3, 0x21, -1,
                      ctypes.c_long(0))
    if at == -1:
        raise MemoryError
    ctypes.memset(at, 1, 1 << 20)
    os.write(1, b"%d\n" % (i + 1))
signal.pause()
