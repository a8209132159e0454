# limits: {"memory": "64m", "threads": 0, "disk": "256m", "timeout": 30000}
# memory as files: what no rlimit and no hook counts

import os
import signal

for i in range(2048):
    with open("f%d" % i, "wb") as f:
        f.write(bytes(1 << 20))
    os.write(1, b"%d\n" % (i + 1))
signal.pause()
