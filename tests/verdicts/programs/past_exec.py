# expect: memory_exceeded cgroup
# without cgroup: memory_exceeded watermark
# limits: {"memory": "64m", "timeout": 30000}
# weight: 1
# exec drops the hook, the rlimits and the cgroup stay

import os

os.execv("/usr/bin/python3", ["python3", "-c", """
blocks = [bytearray(b"x") * (8 << 20) for _ in range(30)]
while True:
    pass
"""])
