# expect: error exit=1
# limits: {"memory": "64m", "threads": 0}
# stderr: MemoryError|no page
# weight: 4
# tells the hook to count only: the kernel's wall stands

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


poke(4, "I", 0)
x = bytearray(200 << 20)
