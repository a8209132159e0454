# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# weight: 1
# a copy

a = list(range(1 << 20))
b = [sorted(a) for _ in range(20)]
