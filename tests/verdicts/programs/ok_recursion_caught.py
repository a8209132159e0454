# expect: success
# output: caught\n
# the language's own limit of depth

def f():
    f()


try:
    f()
except RecursionError:
    print("caught")
