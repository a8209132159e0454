# expect: memory_exceeded cgroup
# limits: {"memory": "64m"}
# without cgroup: memory_exceeded watermark
# without hook: error exit=1
# weight: 1
# raises its limit on the page, with room for stacks: the cgroup stands

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


poke(8, "q", 1 << 60)
blocks = [bytearray(b"x") * (4 << 20) for _ in range(60)]
while True:
    pass
