# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# weight: 1
# many small objects, one arena after the other

a = None
while True:
    a = (a, 1.5)
