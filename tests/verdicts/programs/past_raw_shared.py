# expect: memory_exceeded cgroup
# without cgroup: memory_exceeded watermark
# limits: {"memory": "64m", "timeout": 30000}
# weight: 1
# shared memory by raw mmap

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


for _ in range(30):
    raw(8 << 20, 0x21)
while True:
    pass
