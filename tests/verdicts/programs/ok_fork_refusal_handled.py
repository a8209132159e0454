# expect: success
# output: handled\n
# a refused fork, handled

import os

try:
    os.fork()
except OSError:
    print("handled")
