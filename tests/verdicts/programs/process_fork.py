# expect: process_exceeded exit=1
# row: 13
# case: 12
# says: processes limit of 1 exceeded
# weight: 20
# a fork where none is allowed

import os

os.fork()
