# expect: memory_exceeded hook
# without hook: error exit=137
# limits: {"memory": "64m", "threads": 0}
# weight: 20
# a handler that would return 137

import os

try:
    x = bytearray(1 << 30)
except MemoryError:
    os._exit(137)
