# expect: memory_violation signal=SIGSEGV
# weight: 8
# the language's own handler prints first

import ctypes
import faulthandler

faulthandler.enable()
ctypes.string_at(0)
