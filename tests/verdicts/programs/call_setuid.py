# expect: success
# output: no\n
# weight: 13
# ids are not its choice

import os

try:
    os.setuid(12)
except PermissionError:
    print("no")
