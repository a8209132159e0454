import atexit
import os
import sys
atexit.register(print, "atexit of", "each")
pid = os.fork()
if pid == 0:
    sys.exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
