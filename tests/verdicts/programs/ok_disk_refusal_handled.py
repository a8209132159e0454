# expect: success
# output: 28\n
# limits: {"disk": "256k"}
# weight: 20
# a full disk, handled

import os

fd = os.open("a", os.O_WRONLY | os.O_CREAT)
names = 0
try:
    while True:
        names += 1
        with open(str(names), "wb") as f:
            f.write(b"x" * 8192)
except OSError as e:
    print(e.errno)
