# expect: signaled
# it killed itself

import os

os.kill(os.getpid(), 9)
