# expect: memory_exceeded hook
# a caught MemoryError is no coping

try:
    x = bytearray(10 ** 9)
except MemoryError:
    print('caught')
