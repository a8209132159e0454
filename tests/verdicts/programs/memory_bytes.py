# expect: memory_exceeded hook
# row: 10
# without hook: error exit=1
# limits: {"memory": "128m", "threads": 0}
# case: 1
# says: memory limit of 128m exceeded: 1000000033 bytes
# violation: ALLOC_LIMIT
# weight: 20
# one allocation

x = b"x" * 10**9
