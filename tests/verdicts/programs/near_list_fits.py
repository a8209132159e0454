# expect: success
# limits: {"memory": "100m"}
# weight: 1
# 0.9 of its limit

x = [None] * (90 << 17)
