# expect: seccomp_violation
# says: ptrace
# weight: 5
# by a thread

import ctypes
import threading

thread = threading.Thread(target=ctypes.CDLL(None).syscall, args=(101, 0, 0, 0, 0))
thread.start()
thread.join()
