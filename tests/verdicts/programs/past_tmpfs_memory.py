# expect: memory_exceeded cgroup
# limits: {"memory": "16m", "disk": "200m", "timeout": 30000}
# without cgroup: disk_exceeded
# weight: 3
# memory as files, with a disk larger than the memory

n = 0
while True:
    n += 1
    with open("f%d" % n, "wb") as f:
        f.write(bytes(1 << 20))
