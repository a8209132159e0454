# expect: signaled
# signals reach its own processes only

import os

try:
    os.kill(-1, 9)
except OSError:
    pass
os.kill(os.getpid(), 9)
