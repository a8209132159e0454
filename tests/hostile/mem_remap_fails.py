# expect: memory_exceeded hook
# limits: {"memory": 67108864, "timeout": 10000}
#
# An mremap that fails gives nothing back: neither what was charged behind a
# hole, nor the zygote's memory as the run's own.

import ctypes

MIB = 1 << 20
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + 3 * [ctypes.c_int] \
    + [ctypes.c_long]
libc.mremap.restype = ctypes.c_void_p
libc.mremap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t,
                        ctypes.c_int]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

for _ in range(36):
    at = libc.mmap(None, 4 * MIB, 3, 0x22, -1, 0)
    libc.madvise(at, 2 * MIB, 4)                # MADV_DONTNEED
    libc.mremap(at, 4 * MIB, 4 * MIB, 2)        # FIXED alone: EINVAL
    libc.munmap(at, 2 * MIB)

print('breach: 72 MiB are writable')
