# expect: error exit=1
# stderr: MemoryError
# raises it without a reason

raise MemoryError
