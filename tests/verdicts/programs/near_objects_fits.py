# expect: success
# limits: {"memory": "100m"}
# weight: 1
# 0.9 of its limit

n = (90 << 20) // 40
x = [None] * n
for i in range(n):
    x[i] = float(i)
