# expect: error exit=255
# the largest

import os
os._exit(-1)
