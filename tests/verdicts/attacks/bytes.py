# limits: {"memory": "64m", "threads": 0, "timeout": 30000}
# through the hook, by the language's own objects

import os
import signal

blocks = []
for i in range(2048):
    blocks.append(bytearray(b"x") * (1 << 20))
    os.write(1, b"%d\n" % (i + 1))
signal.pause()
