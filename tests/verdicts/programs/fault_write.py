# expect: memory_violation signal=SIGSEGV
# violation: WRITE_OUT_OF_BOUNDS
# weight: 6
# writes a low address

import ctypes

ctypes.memset(16, 1, 1)
