# expect: memory_exceeded hook exit=3
# mode: soft
# limits: {"memory": "64m", "threads": 0}
# without hook: error exit=3
# weight: 20
# soft mode, caught, and a failure after it

try:
    x = bytearray(1 << 30)
except MemoryError:
    raise SystemExit(3)
