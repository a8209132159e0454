# expect: error exit=1
# stderr: ZeroDivisionError
# weight: 20
# an exception

1 / 0
