# expect: success
# mode: soft
# limits: {"memory": "64m"}
# soft mode, enough

x = bytearray(50 << 20)
