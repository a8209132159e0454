# expect: error exit=137
# limits: {"processes": 4}
# weight: 4
# a shell's code for a killed child

import os
import sys

pid = os.fork()
if pid == 0:
    os.kill(os.getpid(), 9)
sys.exit(128 + -os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
