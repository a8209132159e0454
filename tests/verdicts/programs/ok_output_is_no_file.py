# expect: success
# limits: {"disk": "64k", "output": "4m"}
# case: 33
# weight: 20
# output is no file: the disk limit does not cut it

import sys
for i in range(2000):
    sys.stdout.write("y" * 1000)
