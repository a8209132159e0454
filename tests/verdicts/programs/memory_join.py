# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# weight: 20
# joins

"".join(["y" * (1 << 20)] * 100)
