# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "100m", "threads": 0}
# weight: 1
# 1.5 times its limit

x = [bytearray(1 << 20) for _ in range(150)]
