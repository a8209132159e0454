# expect: success
# output: caught\n
# weight: 20
# a MemoryError of its own making, caught

try:
    raise MemoryError
except MemoryError:
    print("caught")
