# expect: output_exceeded stdout
# limits: {"output": 4096, "processes": 16}
# case: 41
# weight: 2
# ten children print

import os
import signal

for _ in range(10):
    if os.fork() == 0:
        while True:
            os.write(1, b"x" * 1000)
signal.pause()
