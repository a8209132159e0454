# expect: success exit=0
# an exit code is eight bits: the kernel keeps 0

import os
os._exit(256)
