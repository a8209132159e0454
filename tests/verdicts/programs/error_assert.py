# expect: error exit=1
# stderr: AssertionError
# a failed check

assert 1 > 2
