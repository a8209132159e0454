# expect: process_exceeded|timeout|error|success|memory_exceeded
# limits: {"processes": 32, "timeout": 1000, "cpu_time": 1000}
# a bomb stays in its slot

import os

while True:
    try:
        os.fork()
    except OSError:
        pass
