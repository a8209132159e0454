# expect: success
# output: handled\n
# weight: 20
# a refused fork, handled

import os

try:
    os.fork()
except OSError:
    print("handled")
