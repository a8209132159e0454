# expect: seccomp_violation
# says: ptrace
# limits: {"processes": 4}
# weight: 2
# by a child

import ctypes
import os

pid = os.fork()
if pid == 0:
    ctypes.CDLL(None).syscall(101, 0, 0, 0, 0)
    os._exit(0)
os.waitpid(pid, 0)
