# expect: memory_exceeded hook exit=1
# row: 10
# mode: soft
# limits: {"memory": "64m", "threads": 0}
# stderr: MemoryError
# without hook: error exit=1
# weight: 20
# soft mode, it fails of it

x = bytearray(1 << 30)
