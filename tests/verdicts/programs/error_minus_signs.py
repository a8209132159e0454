# expect: error exit=1
# stderr: MemoryError
# case: 47
# weight: 15
# the parser gives a MemoryError, without any memory: no limit was reached

exec("-" * 100000 + "1")
