# expect: success
# output: caught\n
# weight: 20
# the language's own limit of depth

def f():
    f()


try:
    f()
except RecursionError:
    print("caught")
