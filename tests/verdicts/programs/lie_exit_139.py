# expect: error exit=139
# weight: 20
# a code that looks like another end: codes are no evidence

import os
os._exit(139)
