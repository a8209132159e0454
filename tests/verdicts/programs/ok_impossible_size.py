# expect: success
# output: caught\n
# weight: 20
# no allocator has this much: its own answer is right

import sys

try:
    bytearray(sys.maxsize)
except (MemoryError, OverflowError):
    print("caught")
