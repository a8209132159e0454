# expect: memory_exceeded hook
# without hook: success
# limits: {"memory": "64m", "threads": 0}
# weight: 20
# at the very end

import atexit

atexit.register(lambda: bytearray(1 << 30))
