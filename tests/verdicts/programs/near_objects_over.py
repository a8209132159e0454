# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "100m", "threads": 0}
# weight: 1
# 1.5 times its limit

n = (150 << 20) // 40
x = [None] * n
for i in range(n):
    x[i] = float(i)
