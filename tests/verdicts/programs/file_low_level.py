# expect: file_exceeded exit=1
# without hook: error exit=1
# limits: {"open_files": 64}
# weight: 20
# descriptors, not files

import os

while True:
    os.open("/dev/null", os.O_RDONLY)
