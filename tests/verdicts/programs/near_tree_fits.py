# expect: success
# limits: {"memory": "100m", "processes": 4}
# weight: 1
# three children, 0.9 of the limit together

import os

out, go = os.pipe()
for _ in range(3):
    if os.fork() == 0:
        x = bytearray(b"x") * (30 << 20)
        os.write(go, b"1")
        os.read(out, 0)
        os._exit(0)
for _ in range(3):
    os.wait()
