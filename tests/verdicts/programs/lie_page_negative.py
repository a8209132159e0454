# expect: success
# without hook: error exit=1
# weight: 4
# a negative request is no refusal

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


poke(96, "q", -1)
poke(104, "q", (1 << 63) - 1)
poke(76, "I", 1)
