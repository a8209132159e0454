# expect: error exit=1
# stderr: MemoryError
# weight: 20
# raises it without a reason

raise MemoryError
