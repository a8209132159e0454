# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# weight: 8
# a buffer of ctypes

import ctypes

b = ctypes.create_string_buffer(100 << 20)
