# expect: output_exceeded stderr
# limits: {"output": 64}
# weight: 20
# a traceback is output

def f(n):
    return 1 / 0 if n == 0 else f(n - 1)


f(10)
