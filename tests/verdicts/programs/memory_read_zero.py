# expect: memory_exceeded hook
# without hook: error exit=1
# limits: {"memory": "64m", "threads": 0}
# weight: 20
# reads a device without an end

x = open("/dev/zero", "rb").read(1 << 30)
