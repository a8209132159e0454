# expect: file_exceeded exit=24
# without hook: error exit=24
# limits: {"open_files": 64}
# weight: 20
# a failure after a refused open

import os

try:
    while True:
        os.open("/dev/null", os.O_RDONLY)
except OSError as e:
    os._exit(e.errno)
