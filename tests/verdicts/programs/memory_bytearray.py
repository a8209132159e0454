# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "128m", "threads": 0}
# case: 28
# says: limit of 128m exceeded: 20971\d+ bytes asked for
# weight: 20
# names limit and request

x = bytearray(200 << 20)
