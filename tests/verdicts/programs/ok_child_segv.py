# expect: success
# limits: {"processes": 4}
# output: -11\n
# weight: 2
# a child's fault is the child's

import ctypes
import os

pid = os.fork()
if pid == 0:
    ctypes.string_at(8)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
