# expect: seccomp_violation
# says: ptrace
# weight: 2
# after exec: the filter stays

import os

os.execv("/usr/bin/python3", ["python3", "-c", """
import ctypes
ctypes.CDLL(None).syscall(101, 0, 0, 0, 0)
"""])
