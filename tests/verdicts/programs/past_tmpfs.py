# expect: disk_exceeded
# limits: {"memory": "64m", "disk": "16m"}
# weight: 5
# memory as files: the disk has its size

n = 0
while True:
    n += 1
    with open("f%d" % n, "wb") as f:
        f.write(bytes(1 << 20))
