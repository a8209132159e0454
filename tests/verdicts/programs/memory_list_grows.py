# expect: memory_exceeded hook
# row: 10
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# case: 3
# weight: 1
# a list that grows

a = []
while True:
    a.append(len(a))
