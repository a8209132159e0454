# expect: memory_violation signal=SIGSEGV
# violation: WRITE_OUT_OF_BOUNDS
# limits: {"memory": "100m"}
# weight: 1
# with most of its memory in use: no memory limit

import ctypes

x = bytearray(90 << 20)
ctypes.memset(0, 1, 1)
