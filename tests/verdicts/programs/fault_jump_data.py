# expect: memory_violation signal=SIGSEGV
# violation: EXEC_OUT_OF_BOUNDS
# weight: 7
# jumps into data

import ctypes

b = ctypes.create_string_buffer(b"\xc3")
ctypes.CFUNCTYPE(None)(ctypes.addressof(b))()
