# expect: file_exceeded exit=1
# without hook: error exit=1
# limits: {"open_files": 32}
# weight: 11
# an import that finds no descriptor

import os

try:
    while True:
        os.open("/dev/null", os.O_RDONLY)
except OSError:
    import this
