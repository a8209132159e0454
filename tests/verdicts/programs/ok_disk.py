# expect: success
# output: 900000\n
# limits: {"disk": "1m"}
# weight: 16
# 0.9 of the disk

import os

with open("a", "wb") as f:
    f.write(b"x" * 900000)
print(os.path.getsize("a"))
