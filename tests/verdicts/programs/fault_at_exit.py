# expect: memory_violation signal=SIGSEGV
# violation: READ_OUT_OF_BOUNDS
# weight: 5
# at its end

import atexit
import ctypes

atexit.register(ctypes.string_at, 0)
