def f(*args):
    return args[9]


f(
    1,
    2,
    3,
)
