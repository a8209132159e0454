# expect: success|memory_exceeded
# output: ?bounded
# past the hook: an rlimit or the cgroup is the wall

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


got = eat(0x22) + eat(0x21)
print('breach' if got > 256 << 20 else 'bounded', got >> 20)
