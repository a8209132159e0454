# expect: error exit=1
# stderr: RecursionError
# too deep

def f():
    f()


f()
