# expect: success
# row: 17
# output: caught\n
# mode: soft
# limits: {"memory": "64m"}
# without hook: success
# weight: 20
# soft mode, the program sees a MemoryError and copes

try:
    x = bytearray(1 << 30)
except MemoryError:
    print("caught")
