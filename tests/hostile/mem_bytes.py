# expect: memory_exceeded hook
# the hook refuses it before the kernel has to

x = b'x' * 10 ** 9
