# expect: success
# limits: {"memory": "64m"}
# weight: 1
# many times its memory, never at once

for _ in range(40):
    x = bytearray(16 << 20)
    del x
