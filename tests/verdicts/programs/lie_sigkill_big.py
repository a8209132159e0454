# expect: signaled signal=SIGKILL
# limits: {"memory": "64m"}
# weight: 1
# kills itself with most of its memory in use

import os

x = bytearray(50 << 20)
os.kill(os.getpid(), 9)
