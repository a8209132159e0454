# expect: memory_violation signal=SIGSEGV
# row: 11
# violation: READ_OUT_OF_BOUNDS
# output: 1\n
# case: 38
# weight: 7
# reads a low address; what was flushed is kept

import ctypes

print(1, flush=True)
ctypes.string_at(0)
