# expect: error exit=1
# stderr: MemoryError
# limits: {"memory": "64m", "threads": 0}
# weight: 4
# exec drops the hook, the address space is refused

import os

os.execv("/usr/bin/python3", ["python3", "-c", "x = bytearray(1 << 30)"])
