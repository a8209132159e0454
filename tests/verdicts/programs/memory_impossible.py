# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# weight: 20
# more than any machine has

x = bytearray(1 << 62)
