# expect: error exit=9
# without hook: error exit=1
# weight: 7
# a fault on the page, an exit in the kernel's account

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


import os

poke(76, "I", 4)
os._exit(9)
