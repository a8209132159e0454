# expect: success
# says that it used some exabytes: none of it may be in the answer

import ctypes
import os

for line in open('/proc/self/maps'):
    if 'sbx-page' in line:
        at, end = (int(n, 16) for n in line.split()[0].split('-'))
        ctypes.memset(at, 1, end - at)
os._exit(0)
