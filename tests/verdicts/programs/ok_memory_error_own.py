# expect: success
# output: caught\n
# a MemoryError of its own making, caught

try:
    raise MemoryError
except MemoryError:
    print("caught")
