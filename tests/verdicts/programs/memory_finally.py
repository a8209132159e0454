# expect: memory_exceeded hook
# without hook: success
# limits: {"memory": "64m", "threads": 0}
# weight: 20
# a clean exit in finally

import os

try:
    x = bytearray(1 << 30)
finally:
    os._exit(0)
