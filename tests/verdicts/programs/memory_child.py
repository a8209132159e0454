# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0, "processes": 4}
# weight: 6
# a child allocates

import os

pid = os.fork()
if pid == 0:
    x = bytearray(1 << 30)
    os._exit(0)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
