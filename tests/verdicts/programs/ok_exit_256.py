# expect: success exit=0
# weight: 20
# an exit code is eight bits: the kernel keeps 0

import os
os._exit(256)
