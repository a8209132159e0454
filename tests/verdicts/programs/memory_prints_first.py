# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# output: before\n
# weight: 20
# what was flushed before is kept

print("before", flush=True)
x = bytearray(1 << 30)
