# expect: error exit=1
# limits: {"disk": "256k"}
# weight: 19
# full once, room again, and then another failure

import os

n = 0
try:
    while True:
        n += 1
        with open("f%d" % n, "wb") as f:
            f.write(b"x" * 8192)
except OSError:
    for i in range(1, n + 1):
        os.unlink("f%d" % i)
1 / 0
