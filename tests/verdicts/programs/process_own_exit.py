# expect: process_exceeded exit=3
# weight: 20
# a failure after a refused fork

import os

try:
    os.fork()
except OSError:
    os._exit(3)
