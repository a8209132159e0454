# expect: error exit=1
# stderr: RecursionError
# weight: 18
# too deep

def f():
    f()


f()
