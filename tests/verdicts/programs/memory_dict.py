# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# weight: 1
# a dictionary

d = {}
while True:
    d[len(d)] = None
