# expect: memory_exceeded|success
# limits: {"memory": "32m", "disk": "64m"}
# output: ?bounded
# a disk larger than the memory: the cgroup counts it, the disk limit bounds it

n = 0
try:
    with open('/tmp/x', 'wb', buffering=0) as f:
        while n < 1 << 30:
            n += f.write(bytes(1 << 20))
except OSError:
    pass
print('breach' if n > 64 << 20 else 'bounded')
