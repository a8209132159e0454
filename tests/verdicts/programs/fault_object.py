# expect: memory_violation signal=SIGSEGV
# violation: WRITE_OUT_OF_BOUNDS
# weight: 7
# an object that is none

import ctypes

ctypes.cast(8, ctypes.py_object).value
