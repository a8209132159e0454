# expect: success
# output: no\n
# weight: 20
# a side door for memory, closed

import os

try:
    os.memfd_create("a")
except PermissionError:
    print("no")
