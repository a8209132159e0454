# expect: success
# limits: {"open_files": 64}
# output: done\n
# weight: 6
# all refusals of one run, all handled

import os

files = []
try:
    while True:
        files.append(open("/dev/null"))
except OSError:
    files.clear()
try:
    os.fork()
except OSError:
    pass
try:
    with open("big", "wb") as f:
        while True:
            f.write(bytes(1 << 20))
except OSError:
    pass
print("done")
