# expect: memory_violation signal=SIGSEGV
# violation: READ_OUT_OF_BOUNDS
# weight: 5
# in a thread

import ctypes
import threading

thread = threading.Thread(target=ctypes.string_at, args=(8,))
thread.start()
thread.join()
