# expect: timeout wall
# limits: {"timeout": 300}
# stopped, it dies as well

import os

os.kill(os.getpid(), 19)
