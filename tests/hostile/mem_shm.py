# expect: success
# output: bounded
# POSIX shared memory: a tmpfs with a size

n = 0
try:
    with open('/dev/shm/x', 'wb', buffering=0) as f:
        while n < 1 << 30:
            n += f.write(bytes(1 << 20))
except OSError:
    pass
print('breach' if n > 128 << 20 else 'bounded')
