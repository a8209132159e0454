# expect: error exit=1
# mode: soft
# limits: {"memory": "64m", "threads": 0}
# stderr: failed|no page
# weight: 3
# soft mode, erases the refusal; what is left is its own failure

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


try:
    x = bytearray(200 << 20)
except MemoryError:
    poke(76, "I", 0)
raise SystemExit("failed")
