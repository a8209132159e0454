# expect: memory_exceeded hook
# without hook: memory_exceeded cgroup
# without hook, cgroup: memory_exceeded watermark
# limits: {"memory": "64m", "threads": 0, "processes": 16, "timeout": 30000}
# weight: 1
# each child has little, the tree too much

import os
import signal

for _ in range(8):
    if os.fork() == 0:
        x = bytearray(b"x") * (16 << 20)
        signal.pause()
signal.pause()
