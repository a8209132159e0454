# expect: error exit=1
# stderr: EOFError
# case: 37
# weight: 20
# no input: the exception is in standard error

input()
