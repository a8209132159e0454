# expect: error exit=255
# weight: 20
# the largest

import os
os._exit(-1)
