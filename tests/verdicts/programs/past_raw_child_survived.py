# expect: memory_exceeded cgroup
# without cgroup: memory_exceeded watermark | error exit=1
# limits: {"memory": "64m", "timeout": 30000, "processes": 4}
# weight: 1
# the kernel kills the child, and the parent calls it a success

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


import os
import time

pid = os.fork()
if pid == 0:
    for _ in range(30):
        raw(8 << 20)
    time.sleep(20)
    os._exit(0)
os.waitpid(pid, 0)
print("all is well")
