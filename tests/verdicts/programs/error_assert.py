# expect: error exit=1
# stderr: AssertionError
# weight: 20
# a failed check

assert 1 > 2
