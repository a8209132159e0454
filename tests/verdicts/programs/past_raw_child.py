# expect: memory_exceeded cgroup
# without cgroup: memory_exceeded watermark
# limits: {"memory": "64m", "timeout": 30000, "processes": 4}
# weight: 1
# a child takes it past the hook, the parent passes its end on

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

pid = os.fork()
if pid == 0:
    for _ in range(30):
        raw(8 << 20)
    while True:
        pass
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
os._exit(128 - code)
