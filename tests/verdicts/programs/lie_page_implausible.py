# expect: success
# without hook: error exit=1
# weight: 5
# a refusal that the numbers do not bear out is none

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


poke(96, "q", 10)
poke(104, "q", 0)
poke(76, "I", 1)
