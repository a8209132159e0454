# expect: signaled signal=SIGKILL
# limits: {"memory": "64m"}
# kills itself with most of its memory in use

import os

x = bytearray(50 << 20)
os.kill(os.getpid(), 9)
