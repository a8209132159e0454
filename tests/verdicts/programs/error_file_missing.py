# expect: error exit=1
# stderr: FileNotFoundError
# weight: 20
# no such file: not a limit

open("/no/such/file")
