# expect: file_exceeded exit=9
# without hook: error exit=1
# weight: 7
# refused opens that it forges are against itself

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

poke(180, "I", 7)
os._exit(9)
