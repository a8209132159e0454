# expect: process_exceeded exit=1
# without cgroup: error exit=1
# limits: {"processes": 8, "threads": 0}
# case: 27 43
# weight: 1
# forks until it is refused

import os
import signal

while True:
    if os.fork() == 0:
        signal.pause()
