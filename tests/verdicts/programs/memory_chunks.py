# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# weight: 1
# many blocks of 1 MiB

a = []
while True:
    a.append(bytearray(1 << 20))
