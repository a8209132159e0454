# expect: success
# limits: {"memory": "100m"}
# weight: 1
# 0.9 of its limit

x = [bytearray(1 << 20) for _ in range(90)]
