# expect: process_exceeded
# one process is one process

import os

os.fork()
print('breach')
