# expect: memory_exceeded hook
# without hook: success
# limits: {"memory": "64m", "threads": 0}
# weight: 20
# output:
# caught, it would be: the hook is first

try:
    x = b"x" * 10**9
except MemoryError:
    print("caught")
