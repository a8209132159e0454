# expect: success
# limits: {"memory": "60m", "timeout": 30000}
# weight: 1
# past the hook: the cgroup's wall is at 1.25 times 60 MiB and 32 MiB of slack

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


for _ in range(54):
    raw(1 << 20)
