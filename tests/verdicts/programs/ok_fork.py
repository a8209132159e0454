# expect: success
# output: 7\n
# limits: {"processes": 4}
# weight: 4
# a child where children are allowed

import os

pid = os.fork()
if pid == 0:
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
