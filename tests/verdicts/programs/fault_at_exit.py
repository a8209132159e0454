# expect: memory_violation signal=SIGSEGV
# violation: READ_OUT_OF_BOUNDS
# weight: 10
# at its end

import atexit
import ctypes

atexit.register(ctypes.string_at, 0)
