# expect: error
# an exit code is no evidence

import os

os._exit(137)
