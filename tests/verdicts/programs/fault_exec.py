# expect: memory_violation signal=SIGSEGV
# violation: UNKNOWN
# weight: 4
# after exec, without the hook: the signal is all there is

import os

os.execv("/usr/bin/python3",
         ["python3", "-c", "import ctypes; ctypes.string_at(0)"])
