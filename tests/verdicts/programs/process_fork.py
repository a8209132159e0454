# expect: process_exceeded exit=1
# row: 13
# case: 12
# says: processes 1
# weight: 20
# a fork where none is allowed

import os

os.fork()
