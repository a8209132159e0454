# expect: error exit=1
# stderr: ZeroDivisionError
# an exception

1 / 0
