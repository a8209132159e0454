# expect: disk_exceeded exit=28
# limits: {"disk": "256k"}
# weight: 20
# a failure with a full disk

import os

n = 0
try:
    while True:
        n += 1
        with open(str(n), "wb") as f:
            f.write(b"x" * 8192)
except OSError as e:
    os._exit(e.errno)
