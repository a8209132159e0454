# expect: error exit=1
# stderr: MemoryError
# case: 47
# the parser gives a MemoryError, without any memory: no limit was reached

exec("-" * 100000 + "1")
