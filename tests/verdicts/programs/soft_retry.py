# expect: success
# output: 32\n
# mode: soft
# limits: {"memory": "64m", "threads": 0}
# without hook: success
# weight: 1
# soft mode, asks for less until it gets it

size = 1024
while True:
    try:
        x = bytearray(size << 20)
        break
    except MemoryError:
        size //= 2
print(size)
