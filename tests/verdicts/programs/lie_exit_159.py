# expect: error exit=159
# weight: 20
# a code that looks like another end: codes are no evidence

import os
os._exit(159)
