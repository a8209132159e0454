# expect: error exit=137
# row: 16
# weight: 20
# a code that looks like another end: codes are no evidence

import os
os._exit(137)
