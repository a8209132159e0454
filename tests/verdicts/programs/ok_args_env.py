# expect: success
# output: b c\n
# args: ["b"]
# env: {"C": "c"}
# weight: 20
# arguments and environment

import os
import sys

print(sys.argv[1], os.environ["C"])
