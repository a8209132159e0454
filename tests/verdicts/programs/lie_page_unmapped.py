# expect: memory_violation
# without hook: error exit=1
# weight: 7
# takes the page away: the hook's next look is a fault

import ctypes
import struct


def page():
    """Where the hook's page is."""
    for line in open("/proc/self/maps"):
        if "sbx-page" in line:
            return int(line.split("-")[0], 16)
    raise SystemExit("no page")


def poke(offset, kind, value):
    data = struct.pack(kind, value)
    ctypes.memmove(page() + offset, data, len(data))


libc = ctypes.CDLL(None)
libc.syscall(11, ctypes.c_void_p(page()), ctypes.c_size_t(4096))
blocks = [bytearray(1 << 20) for _ in range(10)]
