# expect: memory_exceeded cgroup
# without cgroup: memory_exceeded watermark
# limits: {"memory": "64m", "timeout": 30000, "processes": 4}
# weight: 1
# the same in a child

import subprocess

subprocess.run(["/usr/bin/python3", "-c", """
blocks = [bytearray(b"x") * (8 << 20) for _ in range(30)]
while True:
    pass
"""], env={})
