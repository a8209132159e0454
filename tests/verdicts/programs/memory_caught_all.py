# expect: memory_exceeded hook
# without hook: success
# limits: {"memory": "64m", "threads": 0}
# weight: 20
# an except for everything

try:
    x = bytearray(1 << 30)
except BaseException:
    pass
