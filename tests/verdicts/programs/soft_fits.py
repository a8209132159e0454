# expect: success
# mode: soft
# limits: {"memory": "64m"}
# weight: 1
# soft mode, enough

x = bytearray(50 << 20)
