# expect: memory_violation signal=SIGSEGV
# violation: EXEC_OUT_OF_BOUNDS
# weight: 6
# jumps to nowhere

import ctypes

ctypes.CFUNCTYPE(None)(16)()
