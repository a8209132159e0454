# expect: memory_exceeded
# limits: {"processes": 16, "timeout": 10000}
# each process has rlimits of its own, the tree has one limit

import os
import time
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def eat(flags, size=8 << 20):
    got = 0
    while got < 2 << 30:
        at = libc.syscall(9, None, ctypes.c_size_t(size), 3, flags, -1,
                          ctypes.c_long(0))
        if at == -1:
            break
        ctypes.memset(at, 1, size)
        got += size
    return got


for _ in range(8):
    if os.fork() == 0:
        eat(0x22)
        time.sleep(9)
        os._exit(0)
time.sleep(9)
