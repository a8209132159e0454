# expect: success
# output: refused
# memory outside both rlimits

import os

try:
    os.memfd_create('x')
    print('breach')
except OSError:
    print('refused')
