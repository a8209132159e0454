# expect: success
# output: refused\n
# limits: {"memory": "64m", "threads": 0}
# weight: 5
# the same, and it copes: contained, and a success

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def raw(size, flags=0x22):
    """mmap by its number: the hook does not see it."""
    at = libc.syscall(9, None, ctypes.c_size_t(size), 3, flags, -1,
                      ctypes.c_long(0))
    if at == -1:
        raise MemoryError
    ctypes.memset(at, 1, size)


try:
    raw(200 << 20)
except MemoryError:
    print("refused")
