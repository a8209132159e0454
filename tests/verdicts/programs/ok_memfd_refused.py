# expect: success
# output: no\n
# a side door for memory, closed

import os

try:
    os.memfd_create("a")
except PermissionError:
    print("no")
