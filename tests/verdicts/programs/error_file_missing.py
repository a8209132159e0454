# expect: error exit=1
# stderr: FileNotFoundError
# no such file: not a limit

open("/no/such/file")
