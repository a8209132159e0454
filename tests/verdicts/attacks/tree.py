# limits: {"memory": "64m", "threads": 0, "processes": 32, "timeout": 12000}
# each process below its own limit, the tree far above

import os
import signal

for i in range(31):
    if os.fork() == 0:
        blocks = []
        for j in range(64):
            blocks.append(bytearray(b"x") * (1 << 20))
            os.write(1, b"+")
        signal.pause()
signal.pause()
